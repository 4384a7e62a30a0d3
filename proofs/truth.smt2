; Turns "an establisher lies before m, and one lies between each clobberer that is not after m and m" into "the literal
; holds at m in every linearization" (the criterion by which ground `requires` are decided without a solver).
;
; `before` is the partial order of the graph, `at` the positions of one linearization. If the literal were false at m,
; a last clobberer would stand before m with no establisher between the two, or no establisher would stand before m at
; all although it is false at first.
(set-logic ALL)
(declare-sort Node 0)
(declare-fun before (Node Node) Bool)
(declare-fun at (Node) Int)
(declare-fun establishes (Node) Bool)
(declare-fun clobbers (Node) Bool)
(declare-const initially Bool)
(declare-const m Node)

(assert (! (forall ((a Node) (b Node)) (=> (before a b) (< (at a) (at b)))) :named linearization))

; the criterion
(assert (! (or initially (exists ((e Node)) (and (establishes e) (before e m)))) :named established))
(assert (! (forall ((c Node)) (=> (and (clobbers c) (distinct c m) (not (before m c)))
    (exists ((e Node)) (and (establishes e) (before c e) (before e m))))) :named no-clobberer-is-last))

; the literal is false at m in this linearization
(declare-const last Node)
(declare-const clobbered Bool)
(assert (=> clobbered (and (clobbers last) (distinct last m) (< (at last) (at m))
    (forall ((e Node)) (=> (and (establishes e) (< (at last) (at e))) (not (< (at e) (at m))))))))
(assert (=> (not clobbered) (and (not initially)
    (forall ((e Node)) (=> (establishes e) (not (< (at e) (at m))))))))
(check-sat)
