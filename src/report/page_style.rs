//! How pages look that are files: one style, light or dark as the desktop is, readable on a telephone.

/// The style sheet, for inside `<style>`.
pub const STYLE: &str = ":root { color-scheme: light dark; --muted: light-dark(#5b6470, #9aa5b3); --line: light-dark(#d5dae1, #343c46); --panel: light-dark(#f6f7f9, #1b2026);
  --good: light-dark(#dcf3e6, #143a2b); --bad: light-dark(#fdd9c9, #5b2413); --doubt: light-dark(#fbeec4, #4a3c10); --here: light-dark(#e3effb, #1c3350); }
body { font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; margin: 1.2rem auto; max-width: 84rem; padding: 0 1rem; color: light-dark(#1a1d21, #e6e9ee); background: light-dark(#fff, #14171b); }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 1.4rem 0 .4rem; } .muted { color: var(--muted); font-size: 13px; } p.muted { margin: .2rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25rem .7rem; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-size: 13px; } td, pre, code { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 13px; overflow-wrap: anywhere; } td.n { color: var(--muted); text-align: right; white-space: nowrap; }
.plain td { overflow-wrap: break-word; max-width: 24rem; } td.value { min-width: 7rem; max-width: 30rem; } td.event { min-width: 8rem; } tr.here td { background: var(--here); } tr:focus { outline: none; } pre { white-space: pre; overflow-x: auto; line-height: 1.5; }
.badge { border-radius: 10px; padding: .1rem .6rem; font-weight: 600; background: var(--bad); } details summary { cursor: pointer; } td.same { color: var(--muted); }
.never, del { background: var(--bad); } .always { background: var(--doubt); } .both, ins { background: var(--good); } ins, del { text-decoration: none; border-radius: 3px; padding: 0 .15rem; }
img#drawing { display: block; max-width: 100%; max-height: 60vh; background: #fff; border: 1px solid var(--line); border-radius: 6px; }
@media (max-width: 620px) { .trace table, .trace tbody, .trace tr, .trace td { display: block; } .trace tr:first-child:not(.step), .trace td.same, .trace td:empty { display: none; } .trace tr { border-bottom: 1px solid var(--line); padding: .3rem 0; }
  .trace td { border: none; padding: .05rem .5rem; min-width: 0; max-width: none; text-align: left; } .trace td.n { float: left; } .trace td.value { padding-left: 2.2rem; } .trace td[data-name]::before { content: attr(data-name) ' = '; color: var(--muted); } .trace ins, .trace del { display: inline-block; } }
";
