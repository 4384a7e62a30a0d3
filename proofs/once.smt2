; Turns "every step satisfies the preservation formula" into "no once key ever takes place twice, nothing kept is
; repeated or undone".
;
; One induction step over the runs of an admitted graph. `count` is the number of times a key has really taken place,
; before the freeze (kept effects) or since; `kept` and `alive` are about identities. The goal says that some state
; after the step breaks the invariant although the state before it kept it.
(set-logic ALL)
(declare-sort Identity 0)
(declare-sort Key 0)
(declare-fun key (Identity) Key)
(declare-fun once (Key) Bool)
(declare-fun kept (Identity) Bool)

; the step: what it causes and undoes
(declare-fun causes (Identity) Bool)
(declare-fun undoes (Identity) Bool)

; the state before and after it
(declare-fun count (Key) Int)
(declare-fun count1 (Key) Int)
(declare-fun repeated (Identity) Bool)
(declare-fun repeated1 (Identity) Bool)
(declare-fun undone (Identity) Bool)
(declare-fun undone1 (Identity) Bool)

; what a step does: one more for a key that it causes once, two more at least where it causes it with two identities
(assert (forall ((k Key)) (=> (forall ((i Identity)) (not (and (causes i) (= (key i) k)))) (= (count1 k) (count k)))))
(assert (forall ((i Identity))
    (=> (and (causes i) (forall ((j Identity)) (=> (and (causes j) (= (key j) (key i))) (= j i))))
        (= (count1 (key i)) (+ (count (key i)) 1)))))
(assert (forall ((i Identity)) (= (repeated1 i) (or (repeated i) (and (kept i) (causes i))))))
(assert (forall ((i Identity)) (= (undone1 i) (or (undone i) (and (kept i) (undoes i))))))

; what admission checked of the step (kind `preservation`)
(assert (! (forall ((i Identity)) (=> (and (causes i) (once (key i))) (<= (count (key i)) 0))) :named once-keys-are-new))
(assert (! (forall ((i Identity) (j Identity))
    (=> (and (causes i) (causes j) (= (key i) (key j)) (once (key i))) (= i j))) :named one-cause-a-key))
(assert (! (forall ((i Identity)) (=> (kept i) (not (causes i)))) :named kept-is-not-repeated))
(assert (! (forall ((i Identity)) (=> (kept i) (not (undoes i)))) :named kept-is-not-undone))

; the invariant before
(assert (! (forall ((k Key)) (=> (once k) (<= (count k) 1))) :named once-before))
(assert (! (forall ((i Identity)) (not (repeated i))) :named not-repeated-before))
(assert (! (forall ((i Identity)) (not (undone i))) :named not-undone-before))

; goal: and not after
(declare-const k Key)
(declare-const i Identity)
(assert (or (and (once k) (> (count1 k) 1)) (repeated1 i) (undone1 i)))
(check-sat)
