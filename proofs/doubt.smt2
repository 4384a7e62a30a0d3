; Turns "a doubtful effect is caused again only where it was refuted, or by the identical call of an idempotent tool"
; into "it does not take place twice".
;
; One induction step. `happened` is the hidden truth about the call that gave no answer; nobody sees it. Receipts are
; truthful (assumption 1 of the guarantee): what is refuted did not happen.
(set-logic ALL)
(declare-sort Identity 0)
(declare-fun doubtful (Identity) Bool)
(declare-fun happened (Identity) Bool)
(declare-fun refuted (Identity) Bool)
(declare-fun causes (Identity) Bool)
(declare-fun absorbed (Identity) Bool)   ; the cause is the identical call of an idempotent tool

; occurrences since the freeze, before and after the step; the hidden one comes on top
(declare-fun since (Identity) Int)
(declare-fun since1 (Identity) Int)
(define-fun hidden ((i Identity)) Int (ite (and (doubtful i) (happened i)) 1 0))

(assert (forall ((i Identity)) (>= (since i) 0)))
(assert (forall ((i Identity)) (= (since1 i)
    (+ (since i) (ite (causes i) (ite (and (absorbed i) (or (happened i) (> (since i) 0))) 0 1) 0)))))

(assert (! (forall ((i Identity)) (=> (and (doubtful i) (refuted i)) (not (happened i)))) :named receipts-are-truthful))
(assert (! (forall ((i Identity)) (=> (and (doubtful i) (causes i)) (or (refuted i) (absorbed i)))) :named only-when-settled))
(assert (! (forall ((i Identity))
    (=> (and (doubtful i) (causes i) (not (absorbed i))) (= (since i) 0))) :named not-realized-since))
(assert (! (forall ((i Identity)) (=> (doubtful i) (<= (+ (hidden i) (since i)) 1))) :named before))

(declare-const i Identity)
(assert (and (doubtful i) (> (+ (hidden i) (since1 i)) 1)))
(check-sat)
