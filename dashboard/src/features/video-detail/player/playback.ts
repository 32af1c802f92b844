/** @param isSeek true after a seek, false while playback advances */
type Listener = (seconds: number, isSeek: boolean) => void;

const SEEK_TOLERANCE_SECONDS = 0.1;

/**
 * The current position in a recording. Seeking also works for a recording that cannot be played, so that its transcript
 * and waveform stay usable.
 */
export class Playback {
  #media: HTMLMediaElement | null = null;
  #seconds = 0;
  #frame = 0;
  #endRange = (): void => {};
  readonly #listeners = new Set<Listener>();

  /** @returns a function that detaches the element */
  attach(media: HTMLMediaElement): () => void {
    const controller = new AbortController();
    const { signal } = controller;
    this.#media = media;
    const update = (event: Event | number) => {
      cancelAnimationFrame(this.#frame);
      this.#notify(event instanceof Event && event.type === "seeking");
      // Update on every frame, because `timeupdate` may fire only four times per second.
      if (!media.paused) this.#frame = requestAnimationFrame(update);
    };
    for (const event of ["play", "pause", "seeking", "seeked", "timeupdate", "ended"]) {
      media.addEventListener(event, update, { signal });
    }
    if (this.#seconds > 0) media.currentTime = this.#seconds;
    return () => {
      controller.abort();
      cancelAnimationFrame(this.#frame);
      this.#media = null;
    };
  }

  get seconds(): number {
    return this.#seconds;
  }

  get canPlay(): boolean {
    return this.#media !== null && this.#media.error === null;
  }

  get isPlaying(): boolean {
    return this.#media !== null && !this.#media.paused;
  }

  seek(seconds: number): void {
    this.#seconds = Math.max(0, seconds);
    if (this.#media && this.canPlay) this.#media.currentTime = this.#seconds;
    for (const listener of this.#listeners) listener(this.#seconds, true);
  }

  seekBy(seconds: number): void {
    const end = this.#media?.duration;
    const target = this.#seconds + seconds;
    this.seek(end !== undefined && Number.isFinite(end) ? Math.min(target, end) : target);
  }

  /** Stays paused at the new position if the browser blocks autoplay. */
  playFrom(seconds: number): void {
    this.seek(seconds);
    this.#play();
  }

  /** Plays a part of the recording, then pauses. Does not pause if the user seeks to another part. */
  playRange(from: number, to: number): void {
    this.#endRange();
    this.playFrom(from);
    this.#endRange = this.listen((seconds, isSeek) => {
      // The media reports the seek to `from` too, possibly at the nearest frame.
      if (seconds >= from - SEEK_TOLERANCE_SECONDS && seconds < to) return;
      if (seconds >= to && !isSeek) this.#media?.pause();
      this.#endRange();
    });
  }

  toggle(): void {
    if (this.#media?.paused) this.#play();
    else this.#media?.pause();
  }

  toggleMute(): void {
    if (this.#media) this.#media.muted = !this.#media.muted;
  }

  toggleFullScreen(): void {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.#media?.requestFullscreen();
  }

  /**
   * Calls the listener immediately, on every frame during playback, and on every seek.
   * @returns a function that removes the listener
   */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    listener(this.#seconds, false);
    return () => this.#listeners.delete(listener);
  }

  #play(): void {
    if (!this.canPlay) return;
    // The autoplay policy may reject `play`, and a pause may interrupt it. The position is correct in both cases.
    this.#media?.play().catch(() => {});
  }

  #notify(isSeek: boolean): void {
    if (!this.#media || !this.canPlay) return;
    this.#seconds = this.#media.currentTime;
    for (const listener of this.#listeners) listener(this.#seconds, isSeek);
  }
}
