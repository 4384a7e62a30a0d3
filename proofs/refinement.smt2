; Turns "a live receipt outside Res ends the run before its fields flow" into "every state that checked execution
; reaches is one that admission has judged", and a returned `done` into a discharging assignment.
;
; One induction step over checked execution. `reach` are the states of the semantics (every world, receipt, order and
; failure that the domain allows), `live` the states of the execution.
(set-logic ALL)
(declare-sort State 0)
(declare-sort Call 0)
(declare-sort Receipt 0)
(declare-fun enabled (Call State) Bool)
(declare-fun res (Call State Receipt) Bool)           ; Res: what the domain allows the call to return here
(declare-fun next (Call State Receipt) State)
(declare-fun reach (State) Bool)
(declare-fun accepted (Call State Receipt) Bool)      ; the executor goes on with this receipt
(declare-fun judged (State) Bool)                     ; preservation and scope hold
(declare-fun ended (State) Bool)                      ; END({done})
(declare-fun discharged (State) Bool)                 ; every obligation has its receipts

; the semantics is closed under its own steps
(assert (! (forall ((s State) (n Call) (r Receipt))
    (=> (and (reach s) (enabled n s) (res n s r)) (reach (next n s r)))) :named steps))
; admission
(assert (! (forall ((s State)) (=> (reach s) (judged s))) :named admitted-at-every-prefix))
(assert (! (forall ((s State)) (=> (and (reach s) (ended s)) (discharged s))) :named admitted-coverage))
; the executor makes enabled calls only, and goes on only with what Res allows
(declare-const before State)
(declare-const n Call)
(declare-const r Receipt)
(assert (! (reach before) :named induction))
(assert (! (enabled n before) :named only-enabled-calls))
(assert (! (=> (accepted n before r) (res n before r)) :named checked-at-run-time))
(assert (accepted n before r))

(assert (let ((after (next n before r)))
    (or (not (judged after)) (and (ended after) (not (discharged after))))))
(check-sat)
