//! Small machines with the answer that each must have, and why, for every symbolic engine.
//!
//! The property is inductive, or inductive over several states in a row, or needs an invariant that the engine has to find; or
//! fails after a known number of operations; or nothing can begin. Integers have no bounds in many of them, and sets are
//! deferred in others. What an engine cannot know is incomplete, and never wrong: a proof of a machine that
//! fails, or a finding in one that does not, breaks these tests.

use super::symbolic::{depth, options, outcome_of};
use crate::support::binary::Folder;
use crate::support::with_stack;
use bombus::driver::{Engine, Method, Method::*, SymbolicSettings};
use bombus::report::{Outcome, Verdict};
use std::path::Path;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Answer {
    /// Holds in all reachable states, which these engines have to prove.
    Holds(&'static [Method]),
    /// Fails after so many operations, and not before.
    Fails(usize),
    /// PROPERTIES or INITIALISATION has no solution.
    Vacuous,
}
use Answer::*;

/// Reason, answer, text without MACHINE and END.
const MACHINES: &[(&str, Answer, &str)] = &[
    (
        "a path of twelve nodes has a colouring, which the solver proposes",
        Holds(&[Kind, Ic3]),
        "SETS C={r,g,b} VARIABLES col INVARIANT col : 1..12 +-> C INITIALISATION col:={} OPERATIONS paint = col:(col : 1..12 --> C & !n.(n:1..11 => col(n)/=col(n+1)))",
    ),
    (
        "what is greater than a natural number is positive",
        Holds(&[Kind]),
        "VARIABLES x INVARIANT x>=0 & !y.(y:INTEGER & y>x => y>0) INITIALISATION x:=0 OPERATIONS up = x:=x+1",
    ),
    (
        "0 is greater than -1 and not positive",
        Fails(3),
        "VARIABLES x INVARIANT x:INTEGER & !y.(y:INTEGER & y>x => y>0) INITIALISATION x:=2 OPERATIONS down = x:=x-1",
    ),
    (
        "no number above 5 has a square below 30",
        Fails(5),
        "VARIABLES x INVARIANT x>=0 & #y.(y:INTEGER & y>x & y*y<30) INITIALISATION x:=0 OPERATIONS up = x:=x+1",
    ),
    (
        "a quotient is no larger than its dividend",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:INTEGER & (x=0 or 10/x>=-10) INITIALISATION x:=3 OPERATIONS down = x:=x-1; up = x:=x+1",
    ),
    (
        "a remainder is smaller than its divisor",
        Holds(&[Kind, Ic3]),
        "VARIABLES x,m INVARIANT x>=0 & m:1..9 & x mod m <= 8 INITIALISATION x,m:=3,2 OPERATIONS up = x:=x+1; set(n) = PRE n:1..9 THEN m:=n END",
    ),
    (
        "3 is no double",
        Fails(1),
        "VARIABLES x INVARIANT x>=0 & #y.(y:NATURAL & x=y+y) INITIALISATION x:=0 OPERATIONS up = x:=x+3",
    ),
    (
        "whatever a power of thousands of bits is",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 OPERATIONS o = IF (x+9223372036854775807)**63 > 5 THEN x:=1 ELSE x:=0 END",
    ),
    (
        "any function may be the first one",
        Holds(&[Kind, Ic3]),
        "SETS E={e1,e2,e3} VARIABLES f,g INVARIANT f : E --> 0..4 & g : E >+> 0..4 INITIALISATION f :: E --> 0..4 || g :( g : E >+> 0..4 ) OPERATIONS put(e,i)=PRE e:E & i:0..4 THEN f(e):=i END; back=g:=E<<|g",
    ),
    (
        "any sequence, record and relation may be the first one",
        Holds(&[Kind, Ic3]),
        "SETS E={e1,e2} VARIABLES q,r,s INVARIANT q : iseq(E) & r : struct(a:0..9,b:BOOL) & s : E <-> E INITIALISATION q :: iseq(E) || r :: struct(a:0..9,b:BOOL) || s :: E <-> E OPERATIONS drop=SELECT q/=[] THEN q:=tail(q) END; flip=r'b:=bool(r'b=FALSE); turn=s:=s~",
    ),
    (
        "a result has its type before it has a value",
        Holds(&[Kind, Ic3]),
        "SETS E={e1,e2} VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0 OPERATIONS r <-- o=BEGIN IF r : INTEGER & x=0 THEN x := 1 ELSE x := 0 END; r := x END; s <-- u=ASSERT s : E THEN s := e1 END",
    ),
    (
        "a result that is read before it has a value",
        Fails(1),
        "VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0 OPERATIONS step=SELECT x=0 THEN x := 1 END; r <-- o=SELECT x=1 THEN IF r : NATURAL THEN x := 2 END; r := x END",
    ),
    (
        "no injection leads from three elements into two",
        Vacuous,
        "SETS E={e1,e2,e3} VARIABLES f INVARIANT f : E >-> 1..2 INITIALISATION f :: E >-> 1..2 OPERATIONS stay=f:=f",
    ),
    (
        "no total function leads into nothing",
        Vacuous,
        "SETS E={e1,e2,e3} CONSTANTS n PROPERTIES n : -3..0 VARIABLES f INVARIANT f : E +-> 1..n INITIALISATION f :( f : E --> 1..n ) OPERATIONS stay=f:=f",
    ),
    (
        "every set of pairs of numbers is one",
        Holds(&[Kind, Ic3]),
        "VARIABLES x,s INVARIANT x:0..3 & s <: INTEGER*INTEGER & s : INTEGER <-> INTEGER INITIALISATION x:=0 || s:=%i.(i:NATURAL|i+1) OPERATIONS o=x:=3-x",
    ),
    (
        "a fifth number behind sets that have no literals",
        Fails(4),
        "VARIABLES s INVARIANT s <: INTEGER & card(s)<=3 INITIALISATION s:={} OPERATIONS add(i)=PRE i:1..5 THEN s:=s\\/{i} END",
    ),
    (
        "guards keep the number in its range",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:0..100 INITIALISATION x:=0 OPERATIONS inc=SELECT x<100 THEN x:=x+1 END; reset=SELECT x=100 THEN x:=0 END",
    ),
    (
        "entering asks for an empty section",
        Holds(&[Kind, Ic3]),
        "SETS P={p1,p2,p3} VARIABLES cs,w INVARIANT cs<:P & w<:P & card(cs)<=1 & cs/\\w={} INITIALISATION cs:={}||w:={} OPERATIONS req(p)=PRE p:P & p/:cs & p/:w THEN w:=w\\/{p} END; enter(p)=PRE p:w & cs={} THEN cs:={p}||w:=w-{p} END; leave(p)=PRE p:cs THEN cs:=cs-{p} END",
    ),
    (
        "a relation of a deferred set stays a function",
        Holds(&[Kind, Ic3]),
        "SETS U VARIABLES owner INVARIANT owner : U +-> BOOL & card(owner)<=card(U) INITIALISATION owner:={} OPERATIONS set(u,b)=PRE u:U & b:BOOL THEN owner(u):=b END; del(u)=PRE u:dom(owner) THEN owner:={u}<<|owner END",
    ),
    (
        "what one loses the other gains",
        Holds(&[Kind, Ic3]),
        "VARIABLES x,y INVARIANT x>=0 & y>=0 & x+y=100 INITIALISATION x,y:=100,0 OPERATIONS t(i)=PRE i:1..x THEN x:=x-i||y:=y+i END; u(i)=PRE i:1..y THEN x:=x+i||y:=y-i END",
    ),
    (
        "images without bounds stay natural",
        Holds(&[Ic3]),
        "SETS ACC VARIABLES bal INVARIANT bal: ACC +-> NATURAL INITIALISATION bal:={} OPERATIONS open(a)=PRE a:ACC & a/:dom(bal) THEN bal(a):=0 END; dep(a,n)=PRE a:dom(bal) & n:NATURAL1 THEN bal(a):=bal(a)+n END; wd(a,n)=PRE a:dom(bal) & n:NATURAL1 & n<=bal(a) THEN bal(a):=bal(a)-n END",
    ),
    (
        "nothing is put into a full queue",
        Holds(&[Kind, Ic3]),
        "SETS E={e1,e2} VARIABLES q INVARIANT q:seq(E) & size(q)<=3 INITIALISATION q:=[] OPERATIONS put(e)=PRE e:E & size(q)<3 THEN q:=q<-e END; r<--get=PRE q/=[] THEN r:=first(q)||q:=tail(q) END",
    ),
    (
        "no pair of equals is added",
        Holds(&[Kind, Ic3]),
        "SETS N VARIABLES r INVARIANT r:N<->N & r/\\id(N)={} INITIALISATION r:={} OPERATIONS add(x,y)=PRE x:N & y:N & x/=y THEN r:=r\\/{x|->y} END; del(x)=PRE x:dom(r) THEN r:={x}<<|r END",
    ),
    (
        "the flag is reset with the number or not at all",
        Holds(&[Kind, Ic3]),
        "VARIABLES x,b INVARIANT x:0..1000000 & b:BOOL & (b=TRUE => x>=500000) INITIALISATION x:=0||b:=FALSE OPERATIONS inc(i)=PRE i:1..1000 & x+i<=1000000 THEN x:=x+i END; flag=SELECT x>=500000 THEN b:=TRUE END; reset= SELECT b=FALSE THEN x:=0 END",
    ),
    (
        "5 comes after 4, and 4 after 6, which nothing leads to",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:0..6 & x/=5 INITIALISATION x:=0 OPERATIONS go=SELECT x<3 THEN x:=x+1 WHEN x=3 THEN x:=0 WHEN x=4 THEN x:=5 WHEN x=6 THEN x:=4 END",
    ),
    (
        "numbers from 4 on come from numbers from 4 on: k = 3",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:INTEGER & x/=7 INITIALISATION x:=0 OPERATIONS go=IF x<3 & x>=0 THEN x:=x+1 ELSIF x=3 THEN x:=0 ELSE x:=x+1 END",
    ),
    (
        "5 and 6 lead to each other for ever, but no simple path does",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:0..9 & x/=9 INITIALISATION x:=0 OPERATIONS a=SELECT x<3 THEN x:=x+1 END; b=SELECT x=3 THEN x:=0 END; c=SELECT x=5 THEN x:=6 END; d=SELECT x=6 THEN x:=5 END; e=SELECT x=6 THEN x:=9 END",
    ),
    (
        "a negative number would have been seen two steps before",
        Holds(&[Kind, Ic3]),
        "VARIABLES x,y,z INVARIANT x:INTEGER & y:INTEGER & z:INTEGER & x>=0 INITIALISATION x,y,z:=0,0,0 OPERATIONS go=x,y,z:=y,z,x+1",
    ),
    (
        "a register of four: k = 3",
        Holds(&[Kind, Ic3]),
        "VARIABLES a,b,c,d INVARIANT a:BOOL & b:BOOL & c:BOOL & d:BOOL & a=TRUE INITIALISATION a,b,c,d:=TRUE,TRUE,TRUE,TRUE OPERATIONS go=a,b,c,d:=b,c,d,TRUE",
    ),
    (
        "a sum of two naturals, seen one step later: k = 1",
        Holds(&[Kind, Ic3]),
        "VARIABLES x,y INVARIANT x>=0 & y:INTEGER INITIALISATION x,y:=0,1 OPERATIONS go=x,y:=y,x+y",
    ),
    (
        "the number never sinks below nought at the start of a round",
        Holds(&[Ic3]),
        "VARIABLES t,m INVARIANT t:INTEGER & m:0..2 & t/=-1 INITIALISATION t,m:=0,0 OPERATIONS a=SELECT m=0 THEN t,m:=t+2,1 END; b=SELECT m=1 THEN t,m:=t-1,2 END; c=SELECT m=2 THEN m:=0 END",
    ),
    (
        "needs that x is never below -1, which no number of steps tells",
        Holds(&[Ic3]),
        "VARIABLES x,y INVARIANT x/=-1 & y:INTEGER INITIALISATION x,y:=0,0 OPERATIONS a=x:=x+1; b(i)=PRE i:0..10 THEN x:=x+i END; c=y:=y-1",
    ),
    (
        "request and answer differ by at most one",
        Holds(&[Kind, Ic3]),
        "VARIABLES r,a INVARIANT r:NATURAL & a:NATURAL & a<=r & r<=a+1 INITIALISATION r,a:=0,0 OPERATIONS req=SELECT r=a THEN r:=r+1 END; ack=SELECT a<r THEN a:=a+1 END",
    ),
    (
        "pairs are toggled: the parity of the set is kept",
        Holds(&[Ic3]),
        "VARIABLES s INVARIANT s<:1..7 & s/={1} INITIALISATION s:={} OPERATIONS tog(i,j)=PRE i:1..7 & j:1..7 & i<j THEN IF i:s THEN IF j:s THEN s:=s-{i,j} ELSE s:=(s-{i})\\/{j} END ELSE IF j:s THEN s:=(s\\/{i})-{j} ELSE s:=s\\/{i,j} END END END",
    ),
    (
        "one token goes around; no property of the critical sections alone says so",
        Holds(&[Ic3]),
        "VARIABLES tok,cs INVARIANT tok: 1..6 --> BOOL & cs: 1..6-->BOOL & !(i,j).(i:1..6 & j:1..6 & i/=j => not(cs(i)=TRUE & cs(j)=TRUE)) INITIALISATION tok:=(1..6)*{FALSE} <+ {1|->TRUE} || cs:=(1..6)*{FALSE} OPERATIONS en(i)=PRE i:1..6 & tok(i)=TRUE THEN cs(i):=TRUE END; ex(i)=PRE i:1..6 & cs(i)=TRUE THEN cs(i):=FALSE END; pass(i)=PRE i:1..5 & tok(i)=TRUE & cs(i)=FALSE THEN tok:=tok<+{i|->FALSE,(i+1)|->TRUE} END; wrap=PRE tok(6)=TRUE & cs(6)=FALSE THEN tok:=tok<+{6|->FALSE,1|->TRUE} END",
    ),
    (
        "y never passes x",
        Holds(&[Ic3]),
        "VARIABLES x,y INVARIANT x:INTEGER & y:INTEGER & (x=10 => y<=10) INITIALISATION x,y:=0,0 OPERATIONS a=SELECT y<x THEN y:=y+1 END; b=x:=x+1",
    ),
    (
        "Peterson's algorithm",
        Holds(&[Kind, Ic3]),
        "VARIABLES f1,f2,t,p1,p2 INVARIANT f1:BOOL & f2:BOOL & t:1..2 & p1:0..2 & p2:0..2 & not(p1=2 & p2=2) INITIALISATION f1,f2,t,p1,p2:=FALSE,FALSE,1,0,0 OPERATIONS a1=SELECT p1=0 THEN f1:=TRUE||t:=2||p1:=1 END; b1=SELECT p1=1 & (f2=FALSE or t=1) THEN p1:=2 END; c1=SELECT p1=2 THEN p1:=0||f1:=FALSE END; a2=SELECT p2=0 THEN f2:=TRUE||t:=1||p2:=1 END; b2=SELECT p2=1 & (f1=FALSE or t=2) THEN p2:=2 END; c2=SELECT p2=2 THEN p2:=0||f2:=FALSE END",
    ),
    (
        "one of the initial states",
        Fails(0),
        "VARIABLES x INVARIANT x:0..3 & x/=2 INITIALISATION x::0..3 OPERATIONS o=skip",
    ),
    (
        "any natural number is added",
        Fails(1),
        "VARIABLES x INVARIANT x:NATURAL & x<10 INITIALISATION x:=0 OPERATIONS o(i)=PRE i:NATURAL THEN x:=x+i END",
    ),
    (
        "three elements fill the queue",
        Fails(3),
        "SETS S={s1,s2} VARIABLES q INVARIANT q:seq(S) & size(q)<3 INITIALISATION q:=[] OPERATIONS p(s)=PRE s:S THEN q:=q<-s END",
    ),
    (
        "1+2+...+8 = 36",
        Fails(8),
        "VARIABLES x,y INVARIANT x:INTEGER & y:INTEGER & x+y<36 INITIALISATION x,y:=0,0 OPERATIONS o=x,y:=x+1,y+x+1; z=x:=x",
    ),
    (
        "four litres from jars of three and five",
        Fails(6),
        "VARIABLES a,b INVARIANT a:0..3 & b:0..5 & b/=4 INITIALISATION a,b:=0,0 OPERATIONS fa=a:=3; fb=b:=5; ea=a:=0; eb=b:=0; ab=IF a+b<=5 THEN a,b:=0,a+b ELSE a,b:=a-(5-b),5 END; ba=IF a+b<=3 THEN a,b:=a+b,0 ELSE a,b:=3,b-(3-a) END",
    ),
    (
        "twenty steps",
        Fails(20),
        "VARIABLES x INVARIANT x:NATURAL & x<20 INITIALISATION x:=0 OPERATIONS o=x:=x+1",
    ),
    (
        "ten rounds of four steps",
        Fails(40),
        "VARIABLES x,y INVARIANT x:0..50 & y:0..3 & not(x=10 & y=0) INITIALISATION x,y:=0,0 OPERATIONS o=SELECT y<3 THEN y:=y+1 WHEN y=3 THEN y:=0||x:=x+1 END",
    ),
    (
        "nothing is enabled at 3",
        Fails(3),
        "VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 OPERATIONS o=SELECT x<3 THEN x:=x+1 END",
    ),
    (
        "division by nought inside an action",
        Fails(2),
        "VARIABLES x INVARIANT x:INTEGER INITIALISATION x:=2 OPERATIONS o=x:=x-10/x*0-1",
    ),
    (
        "an assertion fails",
        Fails(4),
        "VARIABLES x INVARIANT x:NATURAL ASSERTIONS x<4 INITIALISATION x:=0 OPERATIONS o=x:=x+1",
    ),
    (
        "the solver chooses the constant",
        Fails(1),
        "CONSTANTS n PROPERTIES n:NATURAL & n>100 VARIABLES x INVARIANT x<n INITIALISATION x:=0 OPERATIONS o(i)=PRE i:1..200 THEN x:=x+i END",
    ),
    (
        "a product of two constants is factored",
        Fails(2),
        "CONSTANTS n,m PROPERTIES n:1..1000000 & m:1..1000000 & n*m=999999 & n<m VARIABLES x INVARIANT x/=n+m INITIALISATION x:=0 OPERATIONS o=x:=x+n; p=x:=x+m",
    ),
    (
        "a feedback register of five bits has 31 states",
        Fails(30),
        "VARIABLES a,b,c,d,e INVARIANT a:BOOL & b:BOOL & c:BOOL & d:BOOL & e:BOOL & not(a=FALSE & b=FALSE & c=FALSE & d=FALSE & e=TRUE) INITIALISATION a,b,c,d,e:=TRUE,FALSE,FALSE,FALSE,FALSE OPERATIONS o=a,b,c,d,e:=bool(c/=e),a,b,c,d",
    ),
    (
        "no number of bits makes a sum negative",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x>=0 INITIALISATION x:=0 OPERATIONS o=x:=x*2+1",
    ),
    (
        "no number of 32 bits wraps around",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x>=0 & x<=x+1 INITIALISATION x:=2147483647 OPERATIONS o=x:=x+2147483647",
    ),
    (
        "no number of 64 bits wraps around",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x>0 INITIALISATION x:=9223372036854775807 OPERATIONS o(i)=PRE i:NATURAL THEN x:=x+i END",
    ),
    (
        "below the least number of 64 bits",
        Fails(1),
        "VARIABLES x INVARIANT x>=-9223372036854775808 INITIALISATION x:=-9223372036854775808 OPERATIONS o=x:=x-1",
    ),
    (
        "a parameter without bounds is chosen large, beside a variable with bounds",
        Fails(1),
        "VARIABLES x INVARIANT x:0..1000 INITIALISATION x:=0 OPERATIONS o(i)=PRE i:NATURAL THEN IF i>20000 THEN x:=2000 ELSE x:=1 END END",
    ),
    (
        "an image without bounds is chosen large",
        Fails(2),
        "SETS ACC VARIABLES bal INVARIANT bal: ACC +-> NATURAL & !a.(a:dom(bal) => bal(a)<=20000) INITIALISATION bal:={} OPERATIONS open(a)=PRE a:ACC THEN bal(a):=0 END; put(a,n)=PRE a:dom(bal) & n:NATURAL THEN bal(a):=bal(a)+n END",
    ),
    (
        "a sum of naturals",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x:NATURAL INITIALISATION x:=0 OPERATIONS o(i)=PRE i:NATURAL1 THEN x:=x+i END",
    ),
    (
        "an equation of three unbounded numbers",
        Holds(&[Ic3]),
        "VARIABLES x,y,z INVARIANT x:NATURAL & y:NATURAL & 3*x+2*y=z INITIALISATION x,y,z:=0,0,0 OPERATIONS o=x,z:=x+1,z+3; p=y,z:=y+1,z+2; q=SELECT x>=2 THEN x,y:=x-2,y+3 END",
    ),
    (
        "the greater of two numbers",
        Holds(&[Kind, Ic3]),
        "VARIABLES m,x INVARIANT x:INTEGER & m:INTEGER & x<=m INITIALISATION x,m:=0,0 OPERATIONS o(i)=PRE i:INTEGER THEN x:=i||m:=max({i,m}) END",
    ),
    (
        "for every constant n",
        Holds(&[Kind, Ic3]),
        "CONSTANTS n PROPERTIES n:NATURAL1 VARIABLES x INVARIANT x:0..n INITIALISATION x:=0 OPERATIONS o=IF x<n THEN x:=x+1 ELSE x:=0 END",
    ),
    (
        "cars on a bridge, for every bound of their number",
        Holds(&[Kind, Ic3]),
        "CONSTANTS d PROPERTIES d:NATURAL1 VARIABLES n,m INVARIANT n:NATURAL & m:NATURAL & n<=d & m<=d & n+m<=d INITIALISATION n,m:=0,0 OPERATIONS out=SELECT n+m<d THEN n:=n+1 END; move=SELECT n>0 THEN n:=n-1||m:=m+1 END; in=SELECT m>0 THEN m:=m-1 END",
    ),
    (
        "13*17 = 221, as a product of numbers without bounds",
        Fails(1),
        "VARIABLES x,y INVARIANT x*y/=221 INITIALISATION x,y:=1,1 OPERATIONS a(i)=PRE i:NATURAL THEN x:=i END; b(i)=PRE i:NATURAL THEN y:=i END",
    ),
    (
        "two disjoint subsets of a deferred set",
        Holds(&[Kind, Ic3]),
        "SETS S VARIABLES a,b INVARIANT a<:S & b<:S & a/\\b={} INITIALISATION a,b:={},{} OPERATIONS ia(x)=PRE x:S-b THEN a:=a\\/{x} END; ib(x)=PRE x:S-a THEN b:=b\\/{x} END",
    ),
    (
        "an element is put into both",
        Fails(2),
        "SETS S VARIABLES a,b INVARIANT a<:S & b<:S & a/\\b={} INITIALISATION a,b:={},{} OPERATIONS ia(x)=PRE x:S-b THEN a:=a\\/{x} END; ib(x)=PRE x:S THEN b:=b\\/{x} END",
    ),
    (
        "the named element is never removed",
        Holds(&[Kind, Ic3]),
        "SETS S CONSTANTS root PROPERTIES root:S VARIABLES a INVARIANT a<:S & root:a INITIALISATION a:={root} OPERATIONS i(x)=PRE x:S THEN a:=a\\/{x} END; d(x)=PRE x:a-{root} THEN a:=a-{x} END",
    ),
    (
        "no element is given twice",
        Holds(&[Kind, Ic3]),
        "SETS U; R VARIABLES f INVARIANT f:U>+>R INITIALISATION f:={} OPERATIONS i(u,r)=PRE u:U-dom(f) & r:R-ran(f) THEN f(u):=r END; d(u)=PRE u:dom(f) THEN f:={u}<<|f END",
    ),
    (
        "users are connected to active servers",
        Holds(&[Kind, Ic3]),
        "SETS SV; US VARIABLES act,use INVARIANT act<:SV & use:US+->SV & ran(use)<:act INITIALISATION act,use:={},{} OPERATIONS start(s)=PRE s:SV-act THEN act:=act\\/{s} END; stop(s)=PRE s:act-ran(use) THEN act:=act-{s} END; conn(u,s)=PRE u:US-dom(use) & s:act THEN use(u):=s END; disc(u)=PRE u:dom(use) THEN use:={u}<<|use END",
    ),
    (
        "a number counts the elements of a set",
        Holds(&[Kind, Ic3]),
        "SETS S VARIABLES n,a INVARIANT a<:S & n=card(a) INITIALISATION n,a:=0,{} OPERATIONS i(x)=PRE x:S-a THEN a:=a\\/{x}||n:=n+1 END; d(x)=PRE x:a THEN a:=a-{x}||n:=n-1 END",
    ),
    (
        "no integer has the square 3",
        Vacuous,
        "CONSTANTS n PROPERTIES n:INTEGER & n*n=3 VARIABLES x INVARIANT x=0 INITIALISATION x:=0 OPERATIONS o=skip",
    ),
    (
        "INITIALISATION has no outcome",
        Vacuous,
        "VARIABLES x INVARIANT x=0 INITIALISATION x:(x:INTEGER & x>3 & x<4) OPERATIONS o=skip",
    ),
    (
        "n < m < n",
        Vacuous,
        "CONSTANTS n,m PROPERTIES n:INTEGER & m:INTEGER & n<m & m<n VARIABLES x INVARIANT x=0 INITIALISATION x:=0 OPERATIONS o=skip",
    ),
    (
        "no initial state for any of infinitely many constants",
        Vacuous,
        "CONSTANTS n PROPERTIES n:NATURAL & n>5 VARIABLES x INVARIANT x=0 INITIALISATION ANY y WHERE y:NATURAL & y<3 & y>n THEN x:=y END OPERATIONS o=skip",
    ),
    (
        "three elements do not fit into two",
        Vacuous,
        "SETS S CONSTANTS f PROPERTIES card(S)=3 & f:S>->1..2 VARIABLES x INVARIANT x=0 INITIALISATION x:=0 OPERATIONS o=skip",
    ),
    (
        "twice a number is never odd",
        Vacuous,
        "CONSTANTS a,b PROPERTIES a:INTEGER & b:INTEGER & 2*a=2*b+1 VARIABLES x INVARIANT x=0 INITIALISATION x:=0 OPERATIONS o=skip",
    ),
    (
        "a guard that nothing satisfies is no fault",
        Holds(&[Kind, Ic3]),
        "VARIABLES x INVARIANT x<5 INITIALISATION x:=0 OPERATIONS o=SELECT x>3 & x<2 THEN x:=9 END; p=skip",
    ),
];

const ENGINES: [Method; 4] = [Bmc, BmcPath, Kind, Ic3];

fn settings(method: Method, answer: Answer) -> Engine {
    let max_depth = match answer {
        Fails(d) => d,
        // Unrolling proves nothing here; a few steps must not find anything.
        _ => 4,
    };
    // A path of forty operations is no matter of sequences of events.
    let max_depth = if method == BmcPath { max_depth.min(6) } else { max_depth };
    Engine::Symbolic(SymbolicSettings {
        method,
        max_depth,
        max_k: 8,
        frames: 60,
        width: 128,
        simple_path: true,
    })
}

/// Whether an engine is tried on a machine: proofs only by those that find one, because the others look for long.
fn is_asked(answer: Answer, method: Method) -> bool {
    match answer {
        Holds(by) => by.contains(&method) || matches!(method, Bmc | BmcPath),
        Fails(_) | Vacuous => true,
    }
}

/// The time only keeps a run from going on for ever.
fn run(path: &Path, method: Method, answer: Answer) -> Outcome {
    outcome_of(path, &options(settings(method, answer)), Duration::from_secs(600)).expect("a model")
}

/// Whether an engine may say this of a machine with that answer.
fn is_good(answer: Answer, method: Method, o: &Outcome) -> bool {
    match (answer, o.verdict()) {
        (Holds(_), Verdict::Violated) => false,
        (Holds(_), Verdict::Verified) => true,
        (Holds(_), Verdict::Incomplete) => matches!(method, Bmc | BmcPath),
        (Fails(d), Verdict::Violated) => {
            depth(o) == d && o.symbolic.as_ref().is_some_and(|s| s.depth == Some(d))
        }
        (Fails(d), Verdict::Incomplete) => method == BmcPath && d >= 6,
        (Vacuous, Verdict::Violated) => o.violation.as_ref().is_some_and(|v| v.kind == "properties"),
        (Fails(_) | Vacuous, _) => false,
    }
}

fn complaint(reason: &str, text: &str, method: Method, o: &Outcome) -> String {
    let (verdict, why) = (o.verdict(), o.ledger.reasons());
    format!("{} says {verdict:?} at {} of {reason}: {text}\n  {why:?}", method.word(), depth(o))
}

#[test]
fn every_engine_gives_the_answer_of_a_machine_or_says_that_it_does_not_know() {
    with_stack(|| {
        let mut wrong = Vec::new();
        for (reason, answer, body) in MACHINES {
            let folder = Folder::with_machine(&format!("MACHINE M {body} END"));
            for method in ENGINES.into_iter().filter(|m| is_asked(*answer, *m)) {
                let o = run(&folder.path("M.mch"), method, *answer);
                if !is_good(*answer, method, &o) {
                    wrong.push(complaint(reason, body, method, &o));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// An event of Rodin: its name, parameters, guards and actions.
type Event = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// A machine of Rodin: variables, invariants, initial actions, events.
struct Rodin {
    reason: &'static str,
    answer: Answer,
    variables: &'static [&'static str],
    invariants: &'static [&'static str],
    initially: &'static [&'static str],
    events: &'static [Event],
}

const OF_RODIN: &[Rodin] = &[
    Rodin {
        reason: "a sum of naturals",
        answer: Holds(&[Kind, Ic3]),
        variables: &["x"],
        invariants: &["x ∈ ℕ"],
        initially: &["x ≔ 0"],
        events: &[("add", &["i"], &["i ∈ ℕ1"], &["x ≔ x+i"])],
    },
    Rodin {
        reason: "two good states in a row rule -2 out",
        answer: Holds(&[Kind, Ic3]),
        variables: &["x"],
        invariants: &["x ∈ ℤ", "x ≥ −2", "x ≠ −1"],
        initially: &["x ≔ 0"],
        events: &[("add", &["i"], &["i ∈ 1‥64"], &["x ≔ x+i"])],
    },
    Rodin {
        reason: "y never passes x",
        answer: Holds(&[Ic3]),
        variables: &["x", "y"],
        invariants: &["x ∈ ℤ", "y ∈ ℤ", "x = 10 ⇒ y ≤ 10"],
        initially: &["x ≔ 0", "y ≔ 0"],
        events: &[("a", &[], &["y < x"], &["y ≔ y+1"]), ("b", &[], &[], &["x ≔ x+1"])],
    },
    Rodin {
        reason: "images without bounds stay natural",
        answer: Holds(&[Ic3]),
        variables: &["f"],
        invariants: &["f ∈ 1‥3 ⇸ ℕ"],
        initially: &["f ≔ ∅"],
        events: &[
            ("open", &["a"], &["a ∈ 1‥3"], &["f(a) ≔ 0"]),
            ("put", &["a", "n"], &["a ∈ dom(f)", "n ∈ ℕ"], &["f(a) ≔ f(a)+n"]),
        ],
    },
];

impl Rodin {
    fn text(&self) -> String {
        let core = "org.eventb.core";
        let escaped = |t: &str| {
            t.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&apos;")
        };
        let mut parts = String::new();
        for (i, v) in self.variables.iter().enumerate() {
            parts += &format!("<{core}.variable name=\"v{i}\" {core}.identifier=\"{v}\"/>\n");
        }
        for (i, p) in self.invariants.iter().enumerate() {
            let p = escaped(p);
            parts += &format!(
                "<{core}.invariant name=\"i{i}\" {core}.label=\"inv{i}\" {core}.predicate=\"{p}\"/>\n"
            );
        }
        let initially: Event = ("INITIALISATION", &[], &[], self.initially);
        for (n, (name, params, guards, actions)) in std::iter::once(&initially).chain(self.events).enumerate()
        {
            parts += &format!(
                "<{core}.event name=\"e{n}\" {core}.convergence=\"0\" {core}.extended=\"false\" {core}.label=\"{name}\">\n"
            );
            for (i, v) in params.iter().enumerate() {
                parts += &format!("<{core}.parameter name=\"p{i}\" {core}.identifier=\"{v}\"/>\n");
            }
            for (i, g) in guards.iter().enumerate() {
                let g = escaped(g);
                parts += &format!(
                    "<{core}.guard name=\"g{i}\" {core}.label=\"grd{i}\" {core}.predicate=\"{g}\"/>\n"
                );
            }
            for (i, a) in actions.iter().enumerate() {
                let a = escaped(a);
                parts += &format!(
                    "<{core}.action name=\"a{i}\" {core}.label=\"act{i}\" {core}.assignment=\"{a}\"/>\n"
                );
            }
            parts += &format!("</{core}.event>\n");
        }
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{core}.machineFile {core}.configuration=\"{core}.fwd\" version=\"5\">\n{parts}</{core}.machineFile>"
        )
    }
}

#[test]
fn every_engine_gives_the_answer_of_a_machine_of_rodin_or_says_that_it_does_not_know() {
    with_stack(|| {
        let mut wrong = Vec::new();
        for machine in OF_RODIN {
            let folder = Folder::new();
            let path = folder.write("M0.bum", &machine.text());
            for method in ENGINES.into_iter().filter(|m| is_asked(machine.answer, *m)) {
                let o = run(&path, method, machine.answer);
                if !is_good(machine.answer, method, &o) {
                    wrong.push(complaint(machine.reason, &machine.text(), method, &o));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
