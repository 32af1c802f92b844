import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { listenToKeys } from "../../hooks/shortcuts.ts";
import controls from "../../ui/controls.module.css";
import { Button, Switch } from "../../ui/controls.tsx";
import { copyText } from "../../ui/copy-text.ts";
import { FollowIcon } from "../../ui/icons.tsx";
import { CopyMenu } from "./copy-menu.tsx";
import { Downloads } from "./download-menu.tsx";
import type { Playback } from "./playback.ts";
import type { VideoAddress } from "./queries.ts";
import { clockInWords } from "./texts.ts";
import css from "./transcript.module.css";
import { TranscriptView } from "./transcript-controller.ts";
import { quote, wholeText } from "./transcript-copy.ts";
import type { Transcript as TranscriptWords } from "./transcript-model.ts";
import { TranscriptFind } from "./transcript-search-field.tsx";
import { TranscriptText } from "./transcript-text.tsx";

interface TranscriptProps {
  address: VideoAddress;
  video: VideoDetailView;
  transcript: TranscriptWords;
  playback: Playback;
  /** Sticks to the window's top on a phone. */
  stage: React.RefObject<HTMLElement | null>;
}

const NONE: never[] = [];

/** A transcript with at least one word. */
export function Transcript({ address, video, transcript, playback, stage }: TranscriptProps) {
  const root = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [view, setView] = useState<TranscriptView | null>(null);
  const [following, setFollowing] = useState(true);
  const [showUnsure, setShowUnsure] = useState(true);
  const [said, say] = useState("");
  const [notice, setNotice] = useState({ text: "", count: 0 });

  useEffect(() => {
    const made = new TranscriptView({
      root: root.current!,
      transcript,
      playback,
      covered: () => Math.max(0, stage.current?.getBoundingClientRect().bottom ?? 0),
      onFollowing: setFollowing,
      onCursor: (word) => say(wordInWords(transcript, word)),
    });
    const stop = made.start();
    setView(made);
    return stop;
  }, [transcript, playback, stage]);

  const copy = useCallback(async (text: string, what: string) => {
    const told = (await copyText(text)) ? `${what} copied` : "Your browser doesn't allow this page to copy";
    setNotice(({ count }) => ({ text: told, count: count + 1 }));
  }, []);
  useEffect(
    () =>
      listenToKeys({
        "/": () => {
          input.current?.focus();
          input.current?.select();
        },
        c: () => {
          const selected = view?.selectedWords();
          if (selected) copy(quote(transcript, selected), "Selection");
          else copy(wholeText(transcript), "Transcript");
        },
      }),
    [view, transcript, copy],
  );

  const hasConfidences = useMemo(() => transcript.confidences?.some((each) => each !== null), [transcript]);
  const stretches = video.transcription?.stretches ?? NONE;
  return (
    <section className={css.panel} aria-label="Transcript">
      <div className={css.tools}>
        <TranscriptFind
          transcript={transcript}
          view={view}
          inputRef={input}
          onLeave={() => root.current?.focus({ preventScroll: true })}
        />
        <div className={css.menus}>
          <CopyMenu transcript={transcript} view={view} onCopy={copy} />
          <Downloads address={address} />
        </div>
      </div>
      <TranscriptText ref={root} transcript={transcript} stretches={stretches} showUnsure={showUnsure} />
      <div className={css.foot}>
        {hasConfidences && (
          <Switch isSelected={showUnsure} onChange={setShowUnsure}>
            Highlight low-confidence words
          </Switch>
        )}
        {!following && (
          <span className={css.follow}>
            <Button onPress={() => view?.follow(true)}>
              <FollowIcon /> Follow
            </Button>
          </span>
        )}
      </div>
      <p className={controls.hidden} role="status">
        {said}
      </p>
      <div role="status">
        {notice.count > 0 && (
          <p key={notice.count} className={css.notice}>
            {notice.text}
          </p>
        )}
      </div>
    </section>
  );
}

function wordInWords({ paragraphs, starts }: TranscriptWords, word: number): string {
  const paragraph = paragraphs.findLast(({ firstWord }) => firstWord <= word)!;
  const place = word - paragraph.firstWord;
  const text = paragraph.text.slice(paragraph.froms[place], paragraph.tos[place]);
  return `${text}, ${clockInWords(starts[word]!)}`;
}
