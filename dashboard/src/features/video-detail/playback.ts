/** `sought`: somebody went there, rather than time. */
type Listener = (seconds: number, sought: boolean) => void;

/**
 * Where in a recording one is: the player's time while it can be played, else the place that was chosen last,
 * so that transcript and waveform work without sound.
 */
export class Playback {
  #media: HTMLMediaElement | null = null;
  #seconds = 0;
  #frame = 0;
  readonly #listeners = new Set<Listener>();

  /** @returns what lets go of the element */
  attach(media: HTMLMediaElement): () => void {
    const controller = new AbortController();
    const { signal } = controller;
    this.#media = media;
    const follow = (event: Event | number) => {
      cancelAnimationFrame(this.#frame);
      this.#tell(event instanceof Event && event.type === "seeking");
      // At each frame, since the element's own events come four times a second.
      if (!media.paused) this.#frame = requestAnimationFrame(follow);
    };
    for (const event of ["play", "pause", "seeking", "seeked", "timeupdate", "ended"]) {
      media.addEventListener(event, follow, { signal });
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

  seek(seconds: number): void {
    this.#seconds = Math.max(0, seconds);
    if (this.#media && this.canPlay) this.#media.currentTime = this.#seconds;
    for (const listener of this.#listeners) listener(this.#seconds, true);
  }

  seekBy(seconds: number): void {
    const end = this.#media?.duration;
    const to = this.#seconds + seconds;
    this.seek(end !== undefined && Number.isFinite(end) ? Math.min(to, end) : to);
  }

  /** Goes on playing from there, or begins to; where the browser does not allow that, it waits there. */
  playFrom(seconds: number): void {
    this.seek(seconds);
    this.#play();
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

  /** Told the time, in seconds, at every frame while it plays and whenever it is changed. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    listener(this.#seconds, false);
    return () => this.#listeners.delete(listener);
  }

  #play(): void {
    if (!this.canPlay) return;
    // Refused without a gesture, or ended by a pause before it began: both leave it where it should be.
    this.#media?.play().catch(() => {});
  }

  #tell(sought: boolean): void {
    if (!this.#media || !this.canPlay) return;
    this.#seconds = this.#media.currentTime;
    for (const listener of this.#listeners) listener(this.#seconds, sought);
  }
}
