; Turns "two calls are independent" into "either order gives the same receipts and the same state" (order collapse).
;
; A call reads the instances R and writes the instances W. What it writes, whether it may be made and what it returns
; depend on the state only through R; the state maps instances to integers, which stand for any values. A write is a
; set, or an increment. Written once for the two calls a and b, from one state w.
(set-logic ALL)
(declare-sort Instance 0)
(declare-fun w (Instance) Int)

; footprints
(declare-fun Ra (Instance) Bool) (declare-fun Wa (Instance) Bool) (declare-fun INCa (Instance) Bool)
(declare-fun Rb (Instance) Bool) (declare-fun Wb (Instance) Bool) (declare-fun INCb (Instance) Bool)

; what a and b return and write, in w and in the state after the other one: `r` the receipt, `v` the value or increment
(declare-const ra Int)  (declare-fun va (Instance) Int)
(declare-const ra1 Int) (declare-fun va1 (Instance) Int)
(declare-const rb Int)  (declare-fun vb (Instance) Int)
(declare-const rb1 Int) (declare-fun vb1 (Instance) Int)

(define-fun after-a ((i Instance)) Int (ite (Wa i) (ite (INCa i) (+ (w i) (va i)) (va i)) (w i)))
(define-fun after-b ((i Instance)) Int (ite (Wb i) (ite (INCb i) (+ (w i) (vb i)) (vb i)) (w i)))
(define-fun after-ab ((i Instance)) Int (ite (Wb i) (ite (INCb i) (+ (after-a i) (vb1 i)) (vb1 i)) (after-a i)))
(define-fun after-ba ((i Instance)) Int (ite (Wa i) (ite (INCa i) (+ (after-b i) (va1 i)) (va1 i)) (after-b i)))

; a call is a function of what it reads
(assert (! (=> (forall ((i Instance)) (=> (Ra i) (= (w i) (after-b i))))
               (and (= ra ra1) (forall ((i Instance)) (= (va i) (va1 i))))) :named a-depends-on-its-reads))
(assert (! (=> (forall ((i Instance)) (=> (Rb i) (= (w i) (after-a i))))
               (and (= rb rb1) (forall ((i Instance)) (= (vb i) (vb1 i))))) :named b-depends-on-its-reads))

; independence
(assert (! (forall ((i Instance)) (not (and (Ra i) (Wb i)))) :named a-does-not-read-what-b-writes))
(assert (! (forall ((i Instance)) (not (and (Rb i) (Wa i)))) :named b-does-not-read-what-a-writes))
(assert (! (forall ((i Instance)) (=> (and (Wa i) (Wb i))
    (or (and (INCa i) (INCb i))
        (and (not (INCa i)) (not (INCb i)) (= (va i) (vb i)))))) :named both-write-only-equal-sets-or-increments))

(declare-const i Instance)
(assert (or (not (= ra ra1)) (not (= rb rb1)) (not (= (after-ab i) (after-ba i)))))
(check-sat)
