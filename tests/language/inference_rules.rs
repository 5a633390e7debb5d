//! Rules by which the search bounds variables of infinite types, each against plain enumeration.
//!
//! A rule is a set that has no finite type to run through, and the same set told point by point: the truth value of a predicate at every
//! point of a window that the solutions cannot leave. `%a %b %c` are numbers from -9 to 9, `%l` is one from -30 to 30, `%k` one
//! from -5 to 5 that is not zero, `%j` one from 1 to 9, `%n` one from 0 to 20, `%m` one from 0 to 60, `%o` a comparison, `%A %B` sets of
//! numbers from 0 to 3. The seed is fixed: failures can be repeated. Each rule has as many instances as are asked for, no two of
//! them the same; none is left open, so the rule was used. A rule that takes one value too many makes some of the sets differ.

use crate::support::number_from_env;
use crate::value_laws::evaluate;
use bombus_kernels::random::Random;

/// Random instances of each rule; the environment may ask for another number.
pub fn instances_of_each() -> usize {
    number_from_env("BOMBUS_RULE_INSTANCES", 1000) as usize
}

/// The name of a rule, the set in which it is needed, and the set by enumeration.
const RULES: &[(&str, &str, &str)] = &[
    (
        "quotients bound their dividends",
        "{x | x/%k = %a & x %o %l}",
        "dom({p,t | p:-99..99 & t = bool(p/%k = %a & p %o %l)} |> {TRUE})",
    ),
    (
        "quotients are bounded on both sides",
        "{x | x/%k >= %a & x/%k <= %b}",
        "dom({p,t | p:-99..99 & t = bool(p/%k >= %a & p/%k <= %b)} |> {TRUE})",
    ),
    (
        "a polynomial that falls and rises lies below a number between two ends",
        "{x,y | x*x-%a*x <= %n & y = x+%b}",
        "{x,y | x:-40..40 & x*x-%a*x <= %n & y = x+%b}",
    ),
    (
        "a polynomial of odd degree takes a value at few places",
        "{x,y | x*x*x+%a*x = %l & y = x+%b}",
        "{x,y | x:-40..40 & x*x*x+%a*x = %l & y = x+%b}",
    ),
    (
        "a polynomial that rises in the end lies below a number up to some end",
        "{x,y | x*x*x-%a*x*x <= %b & x >= %l & y = %c-x}",
        "{x,y | x:-40..40 & x*x*x-%a*x*x <= %b & x >= %l & y = %c-x}",
    ),
    (
        "terms around an operator are moved to the other side",
        "{x | 2*(x/%k)-%a = %b}",
        "dom({p,t | p:-99..99 & t = bool(2*(p/%k)-%a = %b)} |> {TRUE})",
    ),
    (
        "powers bound their exponents",
        "{x | x >= 0 & 2**x <= %m*%j & 3**x < %l+%m}",
        "dom({p,t | p:0..30 & t = bool(2**p <= %m*%j & 3**p < %l+%m)} |> {TRUE})",
    ),
    (
        "a maximum is no less than its elements, and one of them",
        "{x | x >= %l & max({x+%c,%a}) = %b}",
        "dom({p,t | p:-40..40 & t = bool(p >= %l & max({p+%c,%a}) = %b)} |> {TRUE})",
    ),
    (
        "a minimum is no more than its elements, and one of them",
        "{x | x <= 20 & min({%a,x+%c,%b}) %o %c & x >= %a-20}",
        "dom({p,t | p:-29..20 & t = bool(min({%a,p+%c,%b}) %o %c & p >= %a-20)} |> {TRUE})",
    ),
    (
        "the size of an interval bounds its end",
        "{x | x >= %l & card(%a..x) = %n}",
        "dom({p,t | p:-40..40 & t = bool(p >= %l & card(%a..p) = %n)} |> {TRUE})",
    ),
    (
        "the size of an interval bounds its beginning",
        "{x | x <= 30 & card(x..%a) <= %n & card(x..%a) >= %b}",
        "dom({p,t | p:-60..30 & t = bool(card(p..%a) <= %n & card(p..%a) >= %b)} |> {TRUE})",
    ),
    (
        "an interval with elements lies in a set with both its ends",
        "{x,y | x..y <: %a..%b & x <= y & x+y %o %l}",
        "dom({p,t | p:(-9..9)*(-9..9) & t = bool(prj1(INTEGER,INTEGER)(p)..prj2(INTEGER,INTEGER)(p) <: %a..%b \
         & prj1(INTEGER,INTEGER)(p) <= prj2(INTEGER,INTEGER)(p) \
         & prj1(INTEGER,INTEGER)(p)+prj2(INTEGER,INTEGER)(p) %o %l)} |> {TRUE})",
    ),
    (
        "an interval without elements lies in every set",
        "{x | x >= -20 & %a..x <: %b..%c}",
        "dom({p,t | p:-20..20 & t = bool(%a..p <: %b..%c)} |> {TRUE})",
    ),
    (
        "a truth value that is known says what its predicate says",
        "{x | bool(x > %a) = FALSE & TRUE = bool(x+%c >= %b)}",
        "dom({p,t | p:-20..20 & t = bool(not(p > %a) & p+%c >= %b)} |> {TRUE})",
    ),
    (
        "a hypothesis inside a disjunction bounds what it is about",
        "{bool(!x.(x:INTEGER => ((x:%a..%b => x %o %c) or %a = %c)))}",
        "{bool(!x.(x:-20..20 => ((x:%a..%b => x %o %c) or %a = %c)))}",
    ),
    (
        "an implication that some integer satisfies has a witness",
        "{bool(#x.(x:INTEGER & (x:%a..%b => x = %c) & x %o %a))}",
        "{bool(#x.(x:-20..20 & (x:%a..%b => x = %c) & x %o %a))}",
    ),
    (
        "a witness or a counterexample decides a quantifier over two integers",
        "{bool(#(x,y).(x:INTEGER & y:INTEGER & x*x*y = %n*x*y & y >= %a)), \
         bool(!(x,y).(x:INTEGER & y:INTEGER & x*x*y = %n*x*y => y < %b))}",
        "{bool(#(x,y).(x:-9..9 & y:-9..9 & x*x*y = %n*x*y & y >= %a)), \
         bool(!(x,y).(x:-9..9 & y:-9..9 & x*x*y = %n*x*y => y < %b))}",
    ),
    (
        "a total function has all of an interval for its domain",
        "{x | {1|->%a, 2|->%b, 3|->%c} : 1..x --> INTEGER} \\/ {x | {1|->%a, 2|->%b} : 1..x+%c >-> INTEGER}",
        "dom({p,t | p:-30..30 & t = bool({1|->%a, 2|->%b, 3|->%c} : 1..p --> INTEGER)} |> {TRUE}) \\/ \
         dom({p,t | p:-30..30 & t = bool({1|->%a, 2|->%b} : 1..p+%c >-> INTEGER)} |> {TRUE})",
    ),
    (
        "a surjection has all of an interval for its range",
        "{x | {1|->%j, 2|->2, 3|->%n, 4|->1} : 1..4 -->> 1..x+%a}",
        "dom({p,t | p:-20..20 & t = bool({1|->%j, 2|->2, 3|->%n, 4|->1} : 1..4 -->> 1..p+%a)} |> {TRUE})",
    ),
    (
        "a weighted sum of images bounds each of them",
        "{f | f : 1..2 --> NATURAL & %j*f(1)+3*f(2) = %n & f(1) %o %a}",
        "dom({f,t | f : 1..2 --> 0..20 & t = bool(%j*f(1)+3*f(2) = %n & f(1) %o %a)} |> {TRUE})",
    ),
    (
        "a sum over points bounds each image",
        "{f | f : {%j,10} --> NATURAL & SIGMA(x).(x:{%j,10}|f(x)*x) <= %n-9 & f(10) %o %a}",
        "dom({f,t | f : {%j,10} --> 0..12 & t = bool(SIGMA(x).(x:{%j,10}|f(x)*x) <= %n-9 & f(10) %o %a)} |> {TRUE})",
    ),
    (
        "a difference of images bounds one of them by the other",
        "{f | f : 1..2 --> NATURAL & f(1) <= %j & f(2)-f(1) = %a & f(2) %o %b}",
        "dom({f,t | f : 1..2 --> 0..19 & t = bool(f(1) <= %j & f(2)-f(1) = %a & f(2) %o %b)} |> {TRUE})",
    ),
    (
        "factors of a product divide it",
        "{f | f : 1..2 --> NATURAL & PI(i).(i:1..2|f(i)) = %n+1 & f(1) %o %a & f(2) /= %j}",
        "dom({f,t | f : 1..2 --> 0..21 & t = bool(PI(i).(i:1..2|f(i)) = %n+1 & f(1) %o %a & f(2) /= %j)} |> {TRUE})",
    ),
    (
        "a set whose elements all lie in another is part of it",
        "{t | t <: INTEGER & !p.(p:t => p:%A\\/{%a} & p:-9..2+%b) & %B <: t}",
        "dom({p,t | p : POW(0..3\\/{%a}) & t = bool(p <: %A\\/{%a} & p <: -9..2+%b & %B <: p)} |> {TRUE})",
    ),
    (
        "a sequence over two sets is one over what they share",
        "{s | s : iseq(%A) & s : iseq1(INTEGER) & s : seq(%B) & size(s) %o %j-4}",
        "dom({p,t | p : iseq(0..3) & t = bool(p /= [] & ran(p) <: %A & ran(p) <: %B & size(p) %o %j-4)} |> {TRUE})",
    ),
    (
        "equations are put in place before anything is chosen",
        "{x | x:0..9 & #(y,z,w).(y = x+%a & z = y-%b & w = z*%k & w %o %k*x+%c)}",
        "dom({p,t | p:0..9 & t = bool((p+%a-%b)*%k %o %k*p+%c)} |> {TRUE})",
    ),
    (
        "pieces of a sequence have the lengths they are said to have",
        "{x,y | x:seq(INTEGER) & y:seq(INTEGER) & [%a,%b,%c,%a,7] = x^y^[7] & size(x) = %n-8}",
        "{x,y | %n:8..12 & x = ([%a,%b,%c,%a]/|\\(max({0,min({4,%n-8})}))) & y = ([%a,%b,%c,%a]\\|/(max({0,min({4,%n-8})})))}",
    ),
    (
        "an identity is its own inverse",
        "(id({x|x:INTEGER & x %o %l})~)[%A\\/{%a}] \\/ {bool(id(NATURAL)~ = id(NATURAL))|->0}[{FALSE}]",
        "{x | x : %A\\/{%a} & x %o %l}",
    ),
    (
        "a function is followed backwards from finitely many values",
        "((%x.(x:NATURAL|x+%m))~ ; {%j|->5, %n|->6, %a|->7})",
        "{y,z | y : 0..99 & z : 5..7 & y-%m >= 0 & (y-%m)|->z : {%j|->5, %n|->6, %a|->7}}",
    ),
    (
        "what two products share is the product of what their sides share",
        "{x,y | x|->y : ((NATURAL*(%A\\/{%b})) /\\ ((%B \\/ {%a})*INTEGER))}",
        "{x,y | x : 0..9 & y : -9..9 & (x : %B or x = %a) & (y : %A or y = %b)}",
    ),
    (
        "what is part of a part of a union is part of the union",
        "{bool({x|x:INTEGER & x >= %l} <: ({x|x:INTEGER & x >= %a} \\/ %A) \\/ {%b}), bool(STRING \\/ {\"a\"} = STRING)}",
        "{bool(!x.(x:-30..30 & x >= %l => x >= %a or x:%A or x = %b)), TRUE}",
    ),
    (
        "neither of two squares is more than what their sum leaves",
        "{x,y | x*x+y*y = %m & x**2-%b <= 2*%n}",
        "dom({p,t | p:(-8..8)*(-8..8) & t = bool(prj1(INTEGER,INTEGER)(p)**2+prj2(INTEGER,INTEGER)(p)**2 = %m \
         & prj1(INTEGER,INTEGER)(p)**2-%b <= 2*%n)} |> {TRUE})",
    ),
    (
        "odd powers have the signs of their bases",
        "{x | x*x*x >= 5*%a+%c & x*x*x <= 8*%b}",
        "dom({p,t | p:-9..9 & t = bool(p*p*p >= 5*%a+%c & p*p*p <= 8*%b)} |> {TRUE})",
    ),
    (
        "factors of what is not zero are no farther from zero",
        "{x,y | x*(y+%a) = %k & x %o %b}",
        "dom({p,t | p:(-5..5)*(-14..14) & t = bool(prj1(INTEGER,INTEGER)(p)*(prj2(INTEGER,INTEGER)(p)+%a) = %k & prj1(INTEGER,INTEGER)(p) %o %b)} |> {TRUE})",
    ),
    (
        "a successor is one more and a predecessor one less",
        "{x | succ(x)+%c >= %a & pred(x) <= %b}",
        "dom({p,t | p:-20..20 & t = bool(p+1+%c >= %a & p-1 <= %b)} |> {TRUE})",
    ),
    (
        "an interval is empty if its ends are in the wrong order",
        "{x | %a..x = {} & {} = x..%b} \\/ {x | %a..x+%c /= {} & x <= %b}",
        "dom({p,t | p:-20..20 & t = bool(card(%a..p) = 0 & card(p..%b) = 0)} |> {TRUE}) \\/ \
         dom({p,t | p:-20..20 & t = bool(card(%a..p+%c) > 0 & p <= %b)} |> {TRUE})",
    ),
    (
        "a bijection has as many points as images, an injection no more, a surjection no fewer",
        "{f,m | m >= 0 & f : 1..m >->> %A} \\/ {f,m | m >= %c & m %o %a & f : 1..m >-> %B}",
        "{f,m | m : 0..5 & f : 1..m >->> %A} \\/ \
         {f,m | m : -9..5 & m >= %c & m %o %a & f : 1..m >-> %B}",
    ),
    (
        "the rows of a listed function lie in the sets it is between",
        "{x,y | [x,y] : 1..2 --> %A & x+y = %n-9} \\/ {x,y | {x|->%a, 7|->y} : %B \\/ {7} +-> %A \\/ {%a}}",
        "dom({p,t | p:(0..3)*(0..3) & t = bool(prj1(INTEGER,INTEGER)(p) : %A & prj2(INTEGER,INTEGER)(p) : %A \
         & prj1(INTEGER,INTEGER)(p)+prj2(INTEGER,INTEGER)(p) = %n-9)} |> {TRUE}) \\/ \
         dom({p,t | p:(0..7)*(-9..9) & t = bool(prj1(INTEGER,INTEGER)(p) : %B \\/ {7} & prj2(INTEGER,INTEGER)(p) : %A \\/ {%a} \
         & (prj1(INTEGER,INTEGER)(p) = 7 => prj2(INTEGER,INTEGER)(p) = %a))} |> {TRUE})",
    ),
    (
        "the image of a point names a row",
        "{x | {1|->%a, 2|->%b, 3|->%c}[{x}] = {%a}} \\/ {x | %b : {1|->%a, 2|->%b, 3|->%c}[{x}]}",
        "dom({p,t | p:0..4 & t = bool({1|->%a, 2|->%b, 3|->%c}[{p}] = {%a} or %b : {1|->%a, 2|->%b, 3|->%c}[{p}])} |> {TRUE})",
    ),
    (
        "a conditional has the value of one of its branches",
        "{x | 2*IF x > %a THEN x-%b ELSE %b-x END+1 = %n}",
        "dom({p,t | p:-40..40 & t = bool((p > %a & 2*(p-%b)+1 = %n) or (p <= %a & 2*(%b-p)+1 = %n))} |> {TRUE})",
    ),
    (
        "what holds for all of a few values holds for each",
        "{x | !y.(y:-1..3 & y /: %A => x >= y-%a & x <= %b+y)}",
        "dom({p,t | p:-39..39 & t = bool(!y.(y:-1..3 & y /: %A => p >= y-%a & p <= %b+y))} |> {TRUE})",
    ),
    (
        "a relation lies in the product of its domain and its range",
        "{r | r : 1..2 <-> NATURAL & ran(r) = %A & card(r) %o %j} \\/ {r | dom(r) <: 1..2 & ran(r) = %B}",
        "{r | r <: (1..2)*(0..3) & (ran(r) = %A & card(r) %o %j or ran(r) = %B)}",
    ),
    (
        "a set lies in what its elements satisfy",
        "{s | s <: {x|x:INTEGER & x >= %a} & !x.(x:s => x < %a+%j-3 & x /: %A & x*x <= %b+9)}",
        "{s | s <: %a..%a+6 & !x.(x:s => x < %a+%j-3 & x /: %A & x*x <= %b+9)}",
    ),
    (
        "nothing is left of a set that lies in the other",
        "{t | t-(%A\\/{%a}) = {} & %B <: t} \\/ {t | t <: %A & t-%B /= {}}",
        "{t | t <: 0..3\\/{%a} & (t <: %A\\/{%a} & %B <: t)} \\/ {t | t <: 0..3 & t <: %A & not(t <: %B)}",
    ),
    (
        "a lambda says of its argument what its body says",
        "{x | (%y.(y:INTEGER|y*y-%a))(x) = %b} \\/ {x | x:NATURAL & (%y.(y:NATURAL|2*y))(x) <= %n}",
        "dom({p,t | p:-9..9 & t = bool(p*p-%a = %b)} |> {TRUE}) \\/ 0..%n/2",
    ),
    (
        "a number around those that a quantifier names may be a witness",
        "{bool(#x.(x > 5%m & x mod 7 = %j mod 7)), bool(#(x,y).(x > y-%n & y > 3%m))}",
        "{TRUE}",
    ),
    (
        "sequences of a known length are searched with what is said of their items",
        "{s,x | s : seq(0..9) & size(s) = 3 & x : 10..30 & s(2) /= %j & 100*s(1)+10*s(2)+s(3) = x*x+%m \
         & first(rev(s)^[1]) %o first(s) & (5->tail(s))(2) = s(2)}",
        "{s,x | x : 10..30 & s = [(x*x+%m)/100, ((x*x+%m)/10) mod 10, (x*x+%m) mod 10] & s(3) %o s(1) & s(2) /= %j}",
    ),
    (
        "injective sequences of bounded length are searched with what is said of their items",
        "{s | s : iseq(0..6) & size(s) : 1..3 & SIGMA(i).(i:dom(s)|s(i)*i) = %n & s(1) %o %a}",
        "{s | s : {p | #n.(n : 1..3 & p : 1..n >-> 0..6)} & SIGMA(i).(i:dom(s)|s(i)*i) = %n & s(1) %o %a}",
    ),
    (
        "a polynomial of one integer is compared interval by interval",
        "{bool(!x.(x:INTEGER & x*x <= %n => %k*x*x*x+%a*x %o %b)), bool(#x.(x:NATURAL & x*x %o %a*x+%b & x <= %n))} \\/ \
         {bool({x | x:INTEGER & %k*x+%a : 0..%n} = {x | x:INTEGER & %k*x : -%a..%n-%a})}",
        "{bool(!x.(x:-20..20 & x*x <= %n => %k*x*x*x+%a*x %o %b)), bool(#x.(x:0..20 & x*x %o %a*x+%b & x <= %n))} \\/ {TRUE}",
    ),
    (
        "what is not below an interval and not in it lies beyond it",
        "{x | x >= %a & x+%b /: %a+%b-1..%c & x <= %n} \\/ {x | x <= %a & x /: NATURAL & x >= %b}",
        "dom({p,t | p:-30..30 & t = bool(p >= %a & p+%b /: %a+%b-1..%c & p <= %n)} |> {TRUE}) \\/ \
         dom({p,t | p:-30..30 & t = bool(p <= %a & p /: NATURAL & p >= %b)} |> {TRUE})",
    ),
    (
        "rows of a function are told one after another",
        "{f | f : 0..5 --> 0..999 & f(0) = %m & !i.(i:1..5 => f(i) = (f(i-1)*%j+i) mod 17) & f(5) %o f(2)}",
        "{f | #(b,c,d,e,g).(b = (%m*%j+1) mod 17 & c = (b*%j+2) mod 17 & d = (c*%j+3) mod 17 & e = (d*%j+4) mod 17 \
         & g = (e*%j+5) mod 17 & f = {0|->%m,1|->b,2|->c,3|->d,4|->e,5|->g} & g %o c)}",
    ),
    (
        "numbers that are pairwise different are so together",
        "{x,y,z,w | {x,y,z,w} <: 0..4 & card({x,y,z,w}) = 4 & x+%k*y = z+%a & w %o x}",
        "{x,y,z,w | x:0..4 & y:0..4 & z:0..4 & w:0..4 & x/=y & x/=z & x/=w & y/=z & y/=w & z/=w \
         & bool(x+%k*y = z+%a & w %o x) = TRUE}",
    ),
    (
        "a function is total on its domain",
        "{f | f : NATURAL +-> NATURAL & dom(f) = %A\\/{7} & !x.(x:dom(f) => f(x) <= 1+x mod 2) & f(7) %o %a}",
        "{f | f : %A\\/{7} --> 0..2 & bool(!x.(x:dom(f) => f(x) <= 1+x mod 2) & f(7) %o %a) = TRUE}",
    ),
    (
        "what holds on the domain of a partial function bounds its images",
        "{f | f : %A\\/{7} +-> NATURAL & !x.(x:dom(f) => f(x) <= 1+x mod 2) & (7:dom(f) => f(7) %o %a)}",
        "{f | f : %A\\/{7} +-> 0..3 & bool(!x.(x:dom(f) => f(x) <= 1+x mod 2) & (7:dom(f) => f(7) %o %a)) = TRUE}",
    ),
    (
        "images of a function that something exists for are a set",
        "{f | f : 1..3 --> %A\\/{0,3} & {y | #i.(i:1..3 & f(i)+%a = y)} = {%a,%b,%c}}",
        "{f | f : 1..3 --> %A\\/{0,3} & bool(ran(f) = {0,%b-%a,%c-%a}) = TRUE}",
    ),
    (
        "what a sum leaves bounds each of its terms",
        "{x,y | x >= 0 & y >= 0 & %j*x+3*y <= %n & x-y %o %a}",
        "dom({p,t | p:(0..20)*(0..6) & t = bool(%j*prj1(INTEGER,INTEGER)(p)+3*prj2(INTEGER,INTEGER)(p) <= %n \
         & prj1(INTEGER,INTEGER)(p)-prj2(INTEGER,INTEGER)(p) %o %a)} |> {TRUE})",
    ),
    (
        "a combination of equations holds where they do",
        "{x,y | x+y = %a & x-%j*y = %b}",
        "dom({p,t | p:(-18..18)*(-9..9) & t = bool(prj1(INTEGER,INTEGER)(p)+prj2(INTEGER,INTEGER)(p) = %a \
         & prj1(INTEGER,INTEGER)(p)-%j*prj2(INTEGER,INTEGER)(p) = %b)} |> {TRUE})",
    ),
    (
        "what a variable leaves of a sum is a multiple of what divides the others",
        "{x,y,z | x+%j*y+2*%j*z = %m & x:0..60 & y:0..30 & z:0..30 & x %o %l}",
        "{x,y,z | y:0..30 & z:0..30 & x = %m-%j*y-2*%j*z & x:0..60 & x %o %l}",
    ),
    (
        "a sum over the rows of a total function bounds each image",
        "{f | f : {1,%j+1} --> NATURAL & SIGMA(x).(x:dom(f)|f(x)*x) = %n & f(1) %o %a} \\/ \
         {f | f : {1,%j+1} --> NATURAL & SIGMA(x,y).((x|->y):f|x*y) <= %a & f(1) %o %b}",
        "dom({f,t | f : {1,%j+1} --> 0..20 & t = bool(f(1)+(%j+1)*f(%j+1) = %n & f(1) %o %a)} |> {TRUE}) \\/ \
         dom({f,t | f : {1,%j+1} --> 0..20 & t = bool(f(1)+(%j+1)*f(%j+1) <= %a & f(1) %o %b)} |> {TRUE})",
    ),
    (
        "a total function that has one value at every point is the lambda of it",
        "{bool(#f.(f : NATURAL --> NATURAL & !x.(x:NATURAL => f(x) = %j*x+%n) & f(%m) %o 5*%l))}",
        "{bool(%j*%m+%n %o 5*%l)}",
    ),
    (
        "subsets of a known size are made and not looked for",
        "{card({x | x <: %l..%m+40 & card(x) = %m+40-%l}), card({x | x <: -%n..%m+20 & card(x) = 1})}",
        "{%m+41-%l, %m+21+%n}",
    ),
    (
        "what lies in an interval lies between its ends",
        "{x,y | %a : x..y & y-x <= %j} \\/ {x,y | y : x..%b & x >= %c & %n : %l-y..%m}",
        "dom({p,t | p:(-18..18)*(-18..18) & t = bool(%a : prj1(INTEGER,INTEGER)(p)..prj2(INTEGER,INTEGER)(p) \
         & prj2(INTEGER,INTEGER)(p)-prj1(INTEGER,INTEGER)(p) <= %j)} |> {TRUE}) \\/ \
         dom({p,t | p:(-9..9)*(-9..9) & t = bool(prj2(INTEGER,INTEGER)(p) : prj1(INTEGER,INTEGER)(p)..%b \
         & prj1(INTEGER,INTEGER)(p) >= %c & %n : %l-prj2(INTEGER,INTEGER)(p)..%m)} |> {TRUE})",
    ),
    (
        "a record lies in the product of what its fields lie in",
        "{r | r : struct(p:NATURAL,q:INTEGER,z:BOOL) & r'p < %j & r'q : %A\\/{%a} & r'q >= %b & r'p %o %c} \\/ \
         {r | r : struct(p:INTEGER,q:INTEGER,z:BOOL) & %a <= r'p & r'p <= %c & %l = r'q}",
        "{r | #(x,y,b).(x:0..9 & y:-9..9 & b:BOOL & r = rec(p:x,q:y,z:b) & x < %j & y : %A\\/{%a} & y >= %b & x %o %c)} \\/ \
         {r | #(x,b).(x:-9..9 & b:BOOL & r = rec(p:x,q:%l,z:b) & %a <= x & x <= %c)}",
    ),
    (
        "what holds of all rows of a function holds of each",
        "{f | f : %A\\/{7} +-> NATURAL & !(x,y).(x|->y : f => y < 1+x mod 3 & y %o %a)} \\/ \
         {f | f : {1,2} --> NATURAL & !y.(y : ran(f) & y /= %j => y*2 <= %b)}",
        "{f | f : %A\\/{7} +-> 0..3 & bool(!x.(x:dom(f) => f(x) < 1+x mod 3 & f(x) %o %a)) = TRUE} \\/ \
         {f | f : {1,2} --> 0..9 & bool(!x.(x:{1,2} => f(x) = %j or f(x)*2 <= %b)) = TRUE}",
    ),
    (
        "what holds of all pairs of a relation holds of each",
        "{r | r : {1,%j+1} <-> NATURAL & !(x,y).(x|->y : r => y <= 2 & x-y %o %a)} \\/ \
         {r | r : {1,2} <-> NATURAL & !y.(y : ran(r) => y <= 1 & y %o %b)}",
        "{r | r <: {1,%j+1}*(0..2) & bool(!(x,y).(x|->y : r => x-y %o %a)) = TRUE} \\/ \
         {r | r <: {1,2}*(0..1) & bool(!y.(y : ran(r) => y %o %b)) = TRUE}",
    ),
    (
        "no image is beyond the greatest one, and none below the least",
        "{f | f : {1,%j+1} --> NATURAL & max(ran(f)) <= %a} \\/ \
         {f | f : {1,2} --> INTEGER & min(ran(f)) = %b & %b+%n mod 4 >= max(ran(f)) & f(1) %o %c}",
        "{f | f : {1,%j+1} --> 0..9 & bool(f(1) <= %a & f(%j+1) <= %a) = TRUE} \\/ \
         {f | f : {1,2} --> %b..%b+3 & bool((f(1) = %b or f(2) = %b) & f(1) <= %b+%n mod 4 & f(2) <= %b+%n mod 4 & f(1) %o %c) = TRUE}",
    ),
    (
        "a restriction that takes nothing away tells the domain or the range",
        "{r | r : NATURAL <-> INTEGER & %A <| r = r & r |> {%a} = r & card(r) %o %j-4}",
        "{r | r <: %A*{%a} & card(r) %o %j-4}",
    ),
    (
        "parts of a set are told by what they leave of it",
        "{s | s : FIN1(NATURAL) & s /\\ (%A\\/{%a}) = s} \\/ ran({t,s | t = %B & s \\/ t = t & s \\/ {%b} /= {%b}})",
        "{s | s <: %A\\/{%a} & s /= {} & s <: (%A\\/{%a}) /\\ NATURAL} \\/ {s | s <: %B & not(s <: {%b})}",
    ),
    (
        "the least element of a set is found from its known end on",
        "{min({x | x > %l & x /: %A & !y.(y:0..%j => y*y /= x)}), max({x | x < %m-20 & x /: %B & !y.(y:0..%j => y*y /= x)})}",
        "{min({x | x : -40..60 & x > %l & x /: %A & !y.(y:0..%j => y*y /= x)}), \
         max({x | x : -40..60 & x < %m-20 & x /: %B & !y.(y:0..%j => y*y /= x)})}",
    ),
];

struct Instances(Random);

impl Instances {
    fn number(&mut self, low: i64, high: i64) -> i64 {
        low + self.0.below((high - low + 1) as u64) as i64
    }

    /// The texts of one instance, with the same values in both.
    fn of(&mut self, texts: [&str; 2]) -> [String; 2] {
        let set = |this: &mut Self| {
            let list: Vec<String> =
                (0..4).filter(|_| this.0.below(2) == 0).map(|n: i64| n.to_string()).collect();
            if list.is_empty() { "({9}-{9})".to_string() } else { format!("{{{}}}", list.join(",")) }
        };
        let comparisons = ["=", "<", "<=", ">", ">=", "/="];
        let k = self.number(1, 5) * if self.0.below(2) == 0 { 1 } else { -1 };
        let values = [
            ("%a", format!("({})", self.number(-9, 9))),
            ("%b", format!("({})", self.number(-9, 9))),
            ("%c", format!("({})", self.number(-9, 9))),
            ("%l", format!("({})", self.number(-30, 30))),
            ("%k", format!("({k})")),
            ("%j", self.number(1, 9).to_string()),
            ("%n", self.number(0, 20).to_string()),
            ("%m", self.number(0, 60).to_string()),
            ("%o", comparisons[self.number(0, 5) as usize].to_string()),
            ("%A", set(self)),
            ("%B", set(self)),
        ];
        texts
            .map(|text| values.iter().fold(text.to_string(), |text, (name, value)| text.replace(name, value)))
    }
}

/// The first instance of a rule that is left open or has another value than enumeration finds.
fn first_difference(seed: u64, (name, by_rule, by_points): &(&str, &str, &str)) -> Option<String> {
    let wanted = instances_of_each();
    let mut instances = Instances(Random(seed));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..20 * wanted {
        let [rule, points] = instances.of([by_rule, by_points]);
        if !seen.insert(rule.clone()) {
            continue;
        }
        match (evaluate(&rule), evaluate(&points)) {
            (Ok(found), Ok(expected)) if found == expected => {}
            (found, expected) => return Some(format!("{name}: {rule} is {found:?}, not {expected:?}")),
        }
        if seen.len() == wanted {
            return None;
        }
    }
    Some(format!("{name} has {} instances only", seen.len()))
}

#[test]
fn what_a_rule_leaves_is_what_enumeration_finds() {
    let all = RULES.iter().zip(1..).filter_map(|(rule, seed)| first_difference(seed, rule));
    let wrong: Vec<String> = all.collect();
    assert!(wrong.is_empty(), "{} rules are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Laws of sets that cannot be listed, and claims that are no laws, each with its truth value. `%A %B` are sets of texts.
const SYMBOLIC: &[(&str, bool)] = &[
    ("(id(STRING);id(STRING)) = id(STRING)", true),
    ("id(STRING)[%A] = %A & id(STRING)[STRING] = STRING", true),
    ("%A <<| id(STRING) <: id(STRING-%A)", true),
    ("id(STRING) <: ({\"x\"} <<| id(STRING))", false),
    ("id(STRING) <+ {\"x\"|->\"y\"} = id(STRING)", false),
    ("STRING-STRING = {}", true),
    ("(STRING-%A) \\/ %A = STRING", true),
    ("(STRING-(%A\\/{\"x\"})) \\/ %A = STRING", false),
    ("(STRING*STRING)[%A\\/{\"x\"}] = STRING", true),
    ("(STRING*{1})[STRING] = {1,2}", false),
    ("(STRING*STRING ; STRING*STRING) = STRING*STRING", true),
    ("{t | t:STRING & t/:%A & t/=\"x\"} = STRING-(%A\\/{\"x\"})", true),
    ("%t.(t:STRING|t) = id(STRING) & %t.(t:STRING|1) = STRING*{1}", true),
    ("%t.(t:STRING|1) = STRING*{2}", false),
    ("UNION(n).(n:NATURAL|{n}) = NATURAL", true),
    ("UNION(n).(n:NATURAL1|{n}) = NATURAL", false),
    ("NATURAL<->STRING = POW(NATURAL*STRING)", true),
    ("seq(STRING)-{[]} = seq1(STRING) & POW(STRING)-{{}} = POW1(STRING)", true),
    ("!s.(s<:NATURAL => s<:INTEGER) & !s.(s:iseq(NATURAL1) => s:seq(NATURAL))", true),
    ("!s.(s<:NATURAL => s<:NATURAL1)", false),
    ("#f.(f:NATURAL-->NATURAL & f(1) = 2)", true),
    ("!x.(x:NATURAL => x*x >= x) & not(!x.(x:INTEGER => x*x > x))", true),
    ("!x.(x:NATURAL => x mod 2 : 0..1) & !x.(x:NATURAL => x = 3*(x/3) + x mod 3)", true),
    ("!x.(x:NATURAL => x mod 2 : {0})", false),
    ("!(x,y).(x:NATURAL & y:NATURAL => x+y = y+x & x+y >= x & x*y >= 0)", true),
    ("!(x,y).(x:NATURAL & y:NATURAL => x+y > x)", false),
    ("!(x,y).((x+y)*(x-y) = x*x-y*y)", true),
    ("!(x,y,z).(x<y & y<z => x<z & z-x >= 2)", true),
    ("!(x,y,z).(x<y & y<z => z-x >= 3)", false),
    ("#(x,y).(x:NATURAL & y:NATURAL & x+y < x)", false),
    ("#(x,y).(x:NATURAL & y:NATURAL & x+y <= x)", true),
    ("!s.(s:seq(BOOL) => size(s) >= 0 & size(s^s) = 2*size(s) & size(s<-TRUE) > size(s))", true),
    ("!s.(s:seq1(NATURAL) => size(tail(s)) = size(s)-1)", true),
    ("!s.(s:seq(NATURAL) => size(s) >= 1)", false),
    ("#s.(s:seq(NATURAL) & size(s) = 2) & #s.(s:seq(NATURAL) & size(s) = 2 & s(1) = 5)", true),
    ("#f.(f:1..2-->NATURAL & f(1) > 500)", true),
    ("!r.(r:struct(a:NATURAL,b:BOOL) => r'a >= 0) & #r.(r:struct(a:NATURAL,b:BOOL) & r'a = 3)", true),
    ("!r.(r:struct(a:NATURAL,b:BOOL) => r'a >= 1)", false),
    ("!(f,x).(f:NATURAL-->NATURAL1 & x:NATURAL => f(x)+f(x+1) >= 2)", true),
    ("(STRING*NATURAL ; NATURAL1*STRING) = STRING*STRING", true),
    ("!s.(s:POW(NATURAL) => s/\\NATURAL = s & s-INTEGER = {})", true),
    ("!(s,t,u).(s<:NATURAL & t<:NATURAL & u<:NATURAL => s/\\(t\\/u) = (s/\\t)\\/(s/\\u))", true),
    ("!(s,t).(s<:NATURAL & t<:NATURAL => (s\\/t)-t = s)", false),
    ("!(s,t).(s<:NATURAL & t<:NATURAL & s/\\t = {} => (s\\/t)-t = s)", true),
    ("!(x,s,t).(s<:STRING & t<:STRING & x:s & x/:t => x:s-t)", true),
    ("!(x,s,t).(s<:STRING & t<:STRING & x:s\\/t => x:s)", false),
    ("!s.(s<:NATURAL1 => s <: NATURAL\\/{-1})", true),
    ("!t.(t:STRING => size(t) >= 0 & size(t^\"ab\") = size(t)+2)", true),
    ("(STRING*(NATURAL-NATURAL1) ; NATURAL1*STRING) = STRING*STRING", false),
    ("prj1(NATURAL,NATURAL) : NATURAL*NATURAL --> NATURAL & prj2(NATURAL,%A) : NATURAL*%A --> %A", true),
    ("prj1(NATURAL,NATURAL) : NATURAL*NATURAL --> NATURAL1", false),
    ("prj2(NATURAL,BOOL) : NATURAL*BOOL +-> {TRUE}", false),
    ("dom(prj1(NATURAL,STRING)) = NATURAL*STRING & ran(prj1(NATURAL,STRING)) = NATURAL", true),
    ("ran(prj1(NATURAL,NATURAL/\\{-1})) = {} & ran(prj2(NATURAL-NATURAL,NATURAL)) = {}", true),
    ("{x|x:NATURAL & x mod 2 = 0} /\\ {x|x:NATURAL & x mod 3 = 0} = {}", false),
    ("{x|x:NATURAL & x mod 2 = 0} - {0} <: {x|x:NATURAL & x mod 4 = 0}", false),
    ("#t.(t:STRING & size(t) = 3) & #t.(t:STRING & t/=\"a\" & size(t^\"xy\") = 3)", true),
];

#[test]
fn laws_of_sets_without_end_are_decided() {
    let mut random = Random(3);
    for (text, truth) in SYMBOLIC {
        for _ in 0..50 {
            let mut set = || {
                let list: Vec<&str> =
                    ["\"a\"", "\"b\"", "\"c\""].into_iter().filter(|_| random.below(2) == 0).collect();
                if list.is_empty() {
                    "({\"z\"}-{\"z\"})".to_string()
                } else {
                    format!("{{{}}}", list.join(","))
                }
            };
            let text = text.replace("%A", &set()).replace("%B", &set());
            let found = evaluate(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(found, bombus::lang::value::Value::Bool(*truth), "{text}");
        }
    }
}

/// What cannot be listed and is undefined somewhere is never called true: `x mod 2` has no value for negative x.
#[test]
fn what_is_undefined_for_some_values_is_no_theorem() {
    for text in [
        "!x.(x:INTEGER => x mod 2 : 0..1)",
        "!(x,y).(x:NATURAL & y:NATURAL => x mod y <= x)",
        "!(x,y).(x/y = x/y)",
        "!s.(s:seq(NATURAL) => size(tail(s)) = size(s)-1)",
        "!(f,x).(f:NATURAL-->NATURAL & x:INTEGER => f(x) >= 0)",
        // What a hypothesis leaves undefined is not hidden by a conclusion that nothing breaks.
        "!(x,y).(y/(x+x) < 1 => x*0 >= -2)",
        "!(s,x).(s<:NATURAL => (5/x < 1 => x*x >= 0))",
        "!(s,x).(s<:NATURAL & max(s) > x => x*x >= 0)",
    ] {
        let found = evaluate(text);
        assert_ne!(found.ok(), Some(bombus::lang::value::Value::Bool(true)), "{text}");
    }
}

/// `P => Q` has no value where `P` has none, also where `Q` holds for all values.
#[test]
fn a_conclusion_that_always_holds_hides_no_undefined_hypothesis() {
    for text in [
        "!q.(q:seq(INTEGER) & last(q) > 0 => 1 = 1)",
        "!f.(f:0..2-->NATURAL & f(5) > 0 => 4 /: 4..0)",
        "!x.(x:NATURAL & x mod x < 1 => x:NATURAL)",
        "!(t,u).(t<:INTEGER & u<:INTEGER & min(u) >= card(t) => {-1} /<: {2})",
        "!(x,y).(x:NATURAL & (y:NATURAL => x mod y < 2 or x > y) => x:NATURAL)",
    ] {
        assert_ne!(evaluate(text).ok(), Some(bombus::lang::value::Value::Bool(true)), "{text}");
    }
    let text = "!(x,y).(x:dom({1|->2}) & {1|->2}(x) = 2 & y:NATURAL => y /: {-1,-2})";
    assert_eq!(evaluate(text).ok(), Some(bombus::lang::value::Value::Bool(true)), "{text}");
}

/// Where not all values could be tried, one that decides counts more than others for which a formula is undefined.
#[test]
fn a_witness_decides_beside_values_that_are_undefined() {
    for (text, truth) in [
        ("#(x,y).(x:INTEGER & y:NATURAL & 2-x = (y+x) mod 5)", true),
        ("!(x,y).(x>2 & y:NATURAL & y/y /: {y} => (y+x /= y => y:4..y))", false),
    ] {
        assert_eq!(evaluate(text).ok(), Some(bombus::lang::value::Value::Bool(truth)), "{text}");
    }
}

/// Hypotheses and claims about integers; `%a %b %c %k %n %o` as above.
const HYPOTHESES: &[&str] = &[
    "x >= %a",
    "y : NATURAL",
    "x+%k <= y",
    "y <= %n",
    "x*x <= y+%b",
    "x = 2*y+%c",
    "x+y >= 0",
    "not(x < %b)",
];
const CLAIMS: &[&str] = &[
    "%k*x+%a*y %o %b",
    "x*y %o %c",
    "y mod 3 %o %c",
    "y/3 %o y-%a",
    "x+y %o x-%k",
    "(x >= %a or y %o %b)",
    "x*x+y*y %o %a*x",
    "(x %o %c => x+y %o y+%c)",
    "x : %a..%n",
];

/// A quantifier over all integers that is called true is true on every window, and one that is called false because nothing
/// satisfies it has no solution in a window.
#[test]
fn what_is_called_a_theorem_holds_at_every_point_of_a_window() {
    let truth = |truth: bool| Some(bombus::lang::value::Value::Bool(truth));
    let mut instances = Instances(Random(41));
    let (mut theorems, mut contradictions) = (0, 0);
    for _ in 0..1000 {
        let some: Vec<&str> = HYPOTHESES.iter().copied().filter(|_| instances.number(0, 2) == 0).collect();
        let claim = CLAIMS[instances.number(0, CLAIMS.len() as i64 - 1) as usize];
        let given = some.join(" & ");
        let given = if given.is_empty() { "0 = 0" } else { &given };
        let body = format!("{given} => {claim}");
        let [body, both] = instances.of([&body, &format!("{given} & {claim}")]);
        let window = "x:-8..8 & y:-8..8";
        if evaluate(&format!("!(x,y).({body})")).ok() == truth(true) {
            theorems += 1;
            let inside = evaluate(&format!("!(x,y).({window} => ({body}))"));
            assert_eq!(inside.ok(), truth(true), "{body}");
        }
        if evaluate(&format!("#(x,y).({both})")).ok() == truth(false) {
            contradictions += 1;
            let inside = evaluate(&format!("#(x,y).({window} & {both})"));
            assert_eq!(inside.ok(), truth(false), "{both}");
        }
    }
    assert!(theorems > 50 && contradictions > 30, "{theorems} theorems, {contradictions} contradictions");
}
