import type { Browser } from "playwright-core";

const WIDTH = 320;
const HEIGHT = 180;
const JPEG_QUALITY = 80;

/** What the first frame of a sample video shows. */
export type Still =
  | { kind: "slide"; title: string; accent: string }
  | { kind: "call"; people: readonly string[] }
  | { kind: "harbor" | "street" | "stage" };

/** Draws the first frames of the sample videos as JPEG files, because the samples have no recordings. */
export async function drawStills(browser: Browser, stills: readonly Still[]): Promise<Buffer[]> {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
  const pictures: Buffer[] = [];
  for (const still of stills) {
    await page.setContent(
      `<body style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 320 180">${draw(still)}</svg></body>`,
    );
    pictures.push(await page.screenshot({ type: "jpeg", quality: JPEG_QUALITY }));
  }
  await page.close();
  return pictures;
}

function draw(still: Still): string {
  if (still.kind === "slide") return slide(still);
  if (still.kind === "call") return call(still.people);
  return SCENES[still.kind];
}

function slide({ title, accent }: { title: string; accent: string }): string {
  const lines = [90, 112, 134].map(
    (y, index) =>
      `<rect x="28" y="${y}" width="${[210, 170, 190][index]}" height="8" rx="4" fill="#c9ced8"/>`,
  );
  return `<rect width="320" height="180" fill="#f6f7fa"/><rect width="8" height="180" fill="${accent}"/>
    <text x="28" y="62" font-family="sans-serif" font-size="26" font-weight="700" fill="#1d2433">${title}</text>
    ${lines.join("")}<circle cx="276" cy="138" r="22" fill="${accent}" opacity="0.25"/>`;
}

function call(people: readonly string[]): string {
  const columns = people.length > 2 ? 2 : people.length;
  const rows = Math.ceil(people.length / columns);
  const [width, height] = [320 / columns, 180 / rows];
  const tiles = people.map((color, index) => {
    const x = (index % columns) * width;
    const y = Math.floor(index / columns) * height;
    const [middle, head] = [x + width / 2, height / 5];
    return `<svg x="${x}" y="${y}" width="${width}" height="${height}"><g transform="translate(${-x} ${-y})">
      <rect x="${x + 2}" y="${y + 2}" width="${width - 4}" height="${height - 4}" rx="6" fill="#2b303b"/>
      <ellipse cx="${middle}" cy="${y + height}" rx="${height / 2.4}" ry="${height / 2.6}" fill="${color}"/>
      <circle cx="${middle}" cy="${y + height * 0.42}" r="${head}" fill="#e8b796"/>
      <path d="M${middle - head} ${y + height * 0.42}a${head} ${head} 0 0 1 ${2 * head} 0z" fill="#3a2a22"/></g></svg>`;
  });
  return `<rect width="320" height="180" fill="#14171d"/>${tiles.join("")}`;
}

const SCENES = {
  harbor: `<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#f7b267"/><stop offset="1" stop-color="#f4845f"/></linearGradient></defs>
    <rect width="320" height="110" fill="url(#sky)"/><circle cx="220" cy="92" r="24" fill="#fff1c9"/>
    <rect y="106" width="320" height="74" fill="#26495c"/><path d="M60 112h70l-10 20H72z" fill="#122a36"/>
    <path d="M94 112V52l34 56z" fill="#f3efe6"/><path d="M188 124h60M204 140h40M196 156h50" stroke="#f7b267" stroke-width="3"/>`,
  street: `<rect width="320" height="180" fill="#9cc5e8"/><path d="M0 60h70v120H0zM250 40h70v140h-70z" fill="#c46f55"/>
    <path d="M84 84h60v96H84zM180 70h58v110h-58z" fill="#dcc9a8"/><path d="M110 180L150 96h20l40 84z" fill="#5b606b"/>
    <g fill="#fff" opacity="0.7"><path d="M96 98h12v16H96zM120 98h12v16h-12zM192 84h12v16h-12zM214 84h12v16h-12zM264 58h14v18h-14zM290 58h14v18h-14z"/></g>`,
  stage: `<rect width="320" height="180" fill="#171429"/><path d="M70 0L120 150h80L250 0z" fill="#6c5ce7" opacity="0.4"/>
    <rect x="96" y="34" width="128" height="62" fill="#f4f4fb"/><rect x="110" y="50" width="70" height="8" fill="#6c5ce7"/>
    <rect x="110" y="66" width="96" height="6" fill="#c9c9dd"/><rect y="150" width="320" height="30" fill="#0c0a17"/>
    <circle cx="160" cy="112" r="9" fill="#e8b796"/><path d="M144 152a16 28 0 0 1 32 0z" fill="#101827"/>`,
} as const;
