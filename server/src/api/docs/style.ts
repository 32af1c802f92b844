/** The style of every page below `/docs`. Their content security policy contains its hash. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --line: #8883; --soft: #8881; --link: light-dark(#0b57d0, #8ab4f8);
  --faint: light-dark(#5b5b66, #a9a9b5); --page: light-dark(#fff, #16161a); --found: light-dark(#fff0b3, #5c4a00);
  font: 1rem/1.55 system-ui, sans-serif; scroll-padding-top: 4.5rem; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: light-dark(#1b1b1f, #e6e6ea); display: grid;
  grid-template: auto 1fr / 17rem minmax(0, 1fr); }
a { color: var(--link); text-decoration: none; }
main p a, main li a, main td a { text-decoration: underline; text-decoration-thickness: .06em; text-underline-offset: .15em; }
a:hover, a:focus-visible { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: .2em; }
main:focus { outline: none; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; z-index: 2; background: var(--page); padding: .5rem; }
header { grid-column: 1 / -1; position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 1rem;
  padding: .6rem 1.5rem; background: var(--page); border-bottom: 1px solid var(--line); }
.brand { margin: 0; min-width: 14rem; }
.brand a { color: inherit; font-weight: 700; letter-spacing: -.01em; }
.brand span, .neighbours span { color: var(--faint); font-size: .85rem; }
header form { display: flex; gap: .5rem; flex: 1; max-width: 34rem; }
header label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
header input { flex: 1; min-width: 0; }
header input, header button { font: inherit; padding: .35rem .7rem; border: 1px solid light-dark(#767680, #8e8e99);
  border-radius: .45rem; background: var(--page); color: inherit; }
header input::placeholder { color: var(--faint); opacity: 1; }
.home { margin-left: auto; }
nav.side { position: sticky; top: 3.6rem; height: calc(100vh - 3.6rem); overflow-y: auto; padding: .5rem 1rem 3rem 1.5rem;
  border-right: 1px solid var(--line); font-size: .9rem; }
.group { font-size: .8rem; font-weight: 700; margin: 1.25rem 0 .25rem; color: var(--faint); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: .15rem 0; }
nav li ul { margin: .2rem 0 .3rem; padding-left: .8rem; border-left: 2px solid var(--line); font-size: .95em; }
nav [aria-current] { font-weight: 700; color: inherit; }
details.contents { display: none; }
main { padding: 1.75rem 2.5rem 5rem; max-width: 62rem; overflow-wrap: break-word; }
h1 { font-size: 2rem; letter-spacing: -.02em; line-height: 1.15; margin: 0 0 .75rem; }
h2 { font-size: 1.4rem; margin: 2.75rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 .25rem; }
h4 { font-size: .9rem; margin: 1.25rem 0 .25rem; }
h2 > a, h3 > a, h4 > a { color: inherit; }
section:target > h3, section:target > .route, tr:target, h2:target, h3:target { background: var(--found); }
.route { font: .95rem/1.6 ui-monospace, monospace; margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
.method { font-weight: 700; display: inline-block; min-width: 4.5em; }
code { font: .9em ui-monospace, monospace; background: var(--soft); border-radius: .3em; padding: .1em .3em;
  overflow-wrap: anywhere; }
pre { background: var(--soft); border-radius: .5em; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
img { max-width: 100%; height: auto; border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
details > summary { cursor: pointer; padding: .25rem 0; }
.type { color: var(--faint); }
mark { background: var(--found); color: inherit; border-radius: .2em; padding: 0 .1em; }
.hits { padding: 0; list-style: none; }
.hits li { margin: 1.25rem 0; }
.hits p { margin: .15rem 0 0; overflow-wrap: anywhere; }
.neighbours { display: flex; justify-content: space-between; gap: 2rem; margin-top: 4rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
.neighbours span { display: block; }
.neighbours a:last-child { text-align: right; }
@media (min-width: 70rem) { td:first-child code { overflow-wrap: break-word; } }
@media (max-width: 56rem) {
  body { display: block; }
  nav.side { display: none; }
  header { position: static; flex-wrap: wrap; padding: .75rem 1.25rem; gap: .5rem 1rem; }
  .brand { min-width: 0; }
  header form { order: 3; flex-basis: 100%; }
  details.contents { display: block; padding: .5rem 1.25rem; border-bottom: 1px solid var(--line); }
  details.contents summary { padding: .4rem 0; }
  nav li { padding: .3rem 0; }
  main { padding: 1.25rem 1.25rem 4rem; }
  th, td { padding-right: .6rem; overflow-wrap: anywhere; hyphens: auto; }
  .wide { overflow-x: auto; }
  .wide table { min-width: 46rem; }
  table { font-size: .88rem; }
}
`;
