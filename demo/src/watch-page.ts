import type { Word } from "@subtext/captions/words";

/** Renders a page that plays the video with captions and highlights the spoken word in the transcript. */
export function renderWatchPage({
  videoUrl,
  vttUrl,
  language,
  words,
}: {
  videoUrl: string;
  vttUrl: string;
  language: string;
  words: readonly Word[];
}): string {
  const spans = words.map(
    ({ word, start, end }) => `<span data-start="${start}" data-end="${end}">${escapeHtml(word)}</span>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Subtext: the transcript of the sample video</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 1.05rem/1.7 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
  video { width: 100%; border-radius: .5rem; background: #000; }
  p span { cursor: pointer; border-radius: .25rem; padding: .1em 0; }
  p span:hover { text-decoration: underline; }
  p span.spoken { background: Highlight; color: HighlightText; }
  small { opacity: .7; }
</style>
</head>
<body>
<h1>The sample video</h1>
<video controls crossorigin="anonymous" src="${escapeHtml(videoUrl)}">
  <track default kind="captions" srclang="${escapeHtml(language)}" label="Captions" src="${escapeHtml(vttUrl)}">
</video>
<p>${spans.join(" ")}</p>
<small>Click a word to play from there. The caption file's URL expires after 5 minutes; reload the page for a new one.</small>
<script>
  const video = document.querySelector("video");
  const words = [...document.querySelectorAll("p span")];
  for (const word of words) word.onclick = () => { video.currentTime = word.dataset.start; video.play(); };
  const highlight = () => {
    const now = video.currentTime;
    for (const word of words) word.classList.toggle("spoken", now >= word.dataset.start && now < word.dataset.end);
    requestAnimationFrame(highlight);
  };
  highlight();
</script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
