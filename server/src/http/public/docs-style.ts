/** Of `/docs`. Its hash stands in the page's content security policy. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --line: #8883; --soft: #8881; --link: light-dark(#0b57d0, #8ab4f8);
  font: 1rem/1.55 system-ui, sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.5rem;
  border-right: 1px solid var(--line); font-size: .9rem; }
nav h2 { font-size: .8rem; margin: 1.25rem 0 .25rem; text-transform: uppercase; letter-spacing: .05em; opacity: .7; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: .15rem 0; }
main { padding: 1.5rem 2.5rem 6rem; max-width: 62rem; }
h1 { font-size: 2rem; letter-spacing: -.02em; line-height: 1.15; margin: 0 0 .5rem; }
h2 { font-size: 1.4rem; margin: 3.5rem 0 1rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.5rem 0 .25rem; }
h4 { font-size: .9rem; margin: 1.25rem 0 .25rem; }
:target { scroll-margin-top: 1rem; }
section:target > h3, section:target > .route { background: #fc03; }
.route { font: .95rem/1.6 ui-monospace, monospace; margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
.method { font-weight: 700; display: inline-block; min-width: 4.5em; }
code { font: .9em ui-monospace, monospace; background: var(--soft); border-radius: .3em; padding: .1em .3em;
  overflow-wrap: anywhere; }
pre { background: var(--soft); border-radius: .5em; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td:first-child { white-space: nowrap; }
details > summary { cursor: pointer; padding: .25rem 0; }
.type { opacity: .75; }
@media (max-width: 56rem) {
  body { display: block; }
  nav { position: static; height: auto; border: 0; padding-bottom: 0; }
  main { padding: 1.5rem 1.25rem 4rem; }
  td:first-child { white-space: normal; }
}
`;
