import { Link, Outlet, useMatches, useParams, useRouter, useRouterState } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { UploadPanel } from "../features/uploads/upload-panel.tsx";
import { lastEnvironment } from "../hooks/last-environment.ts";
import { type PageCommand, PageCommandsContext } from "../hooks/page-commands.ts";
import { LiveUpdatesContext } from "../hooks/use-live-videos.ts";
import { mayOpen, roleIn, useMe } from "../hooks/use-me.ts";
import { shell as texts } from "../messages/en/shell.ts";
import { ForbiddenPage, NotFoundPage } from "../ui/error-pages.tsx";
import controls from "../ui/forms/controls.module.css";
import { Button, SegmentedControl } from "../ui/forms/controls.tsx";
import { MenuIcon, MoonIcon, ScreenIcon, SignOutIcon, SunIcon } from "../ui/icons.tsx";
import { Brand } from "../ui/page.tsx";
import { onThemeSelected, selectedTheme, selectTheme } from "../ui/theme/theme.ts";
import { EnvironmentSwitcher } from "./environment-switcher.tsx";
import { ENVIRONMENT_PAGES, SERVICE_PAGES } from "./pages.tsx";
import { PaletteButton, useCommandPalette } from "./palette-button.tsx";
import { SearchLink, useSearchShortcut } from "./search-link.tsx";
import css from "./shell.module.css";
import { useSignOut } from "./sign-out.tsx";
import { useServerReachable } from "./use-server-reachable.ts";

const Drawer = lazy(async () => ({ default: (await import("./drawer.tsx")).Drawer }));

export function Shell() {
  // `location` changes before its page is shown, so use the resolved location.
  const path = useRouterState({
    select: ({ resolvedLocation, location }) => (resolvedLocation ?? location).pathname,
  });
  const main = useRef<HTMLElement>(null);
  const lastPath = useRef(path);
  const [drawerOpen, setDrawerOpen] = useState(false);
  const isReachable = useServerReachable();
  const [isLive, setLive] = useState(true);
  const environmentId = useEnvironmentId();
  useSearchShortcut(environmentId);
  const palette = useCommandPalette(environmentId);

  useEffect(() => {
    if (lastPath.current === path) return;
    lastPath.current = path;
    setDrawerOpen(false);
    // Move the focus to the top of the new page for keyboard and screen reader users.
    const target =
      main.current?.querySelector<HTMLElement>("[data-initial-focus]") ??
      main.current?.querySelector<HTMLElement>("h1");
    (target ?? main.current)?.focus({ preventScroll: true });
  }, [path]);

  const [pageCommands] = useState(() => new Map<string, readonly PageCommand[]>());

  return (
    <PageCommandsContext value={pageCommands}>
      <a className={css.skip} href="#main">
        {texts.skipToContent}
      </a>
      <div className={css.shell}>
        <aside className={css.desktopSidebar} aria-label="Subtext">
          <Sidebar onOpenPalette={palette.open} />
        </aside>
        <header className={css.bar}>
          <Brand />
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.menu}
            aria-haspopup="dialog"
            aria-expanded={drawerOpen}
            onPress={() => setDrawerOpen(true)}
          >
            <MenuIcon />
          </Button>
          {drawerOpen && (
            <Suspense fallback={null}>
              <Drawer onClose={() => setDrawerOpen(false)}>
                <Sidebar
                  onOpenPalette={() => {
                    setDrawerOpen(false);
                    palette.open();
                  }}
                />
              </Drawer>
            </Suspense>
          )}
        </header>
        <main className={css.main} id="main" ref={main} tabIndex={-1}>
          <div role="status">
            {!(isReachable && isLive) && (
              <p className={`${controls.notice} ${css.unreachable}`} data-tone="wait">
                {texts.connectionLost}
              </p>
            )}
          </div>
          <LiveUpdatesContext value={setLive}>
            <Page />
          </LiveUpdatesContext>
        </main>
      </div>
      <UploadPanel />
      {palette.dialog}
    </PageCommandsContext>
  );
}

/** Returns the environment in the URL, or else the last one; null if there is none or the operator has no role in it. */
function useEnvironmentId(): string | null {
  const me = useMe();
  const { environmentId = lastEnvironment() } = useParams({ strict: false });
  return environmentId !== null && roleIn(me, environmentId) !== null ? environmentId : null;
}

/** Renders a notice instead of pages that the operator's role does not include. */
function Page() {
  const me = useMe();
  const match = useMatches().at(-1);
  const { environmentId } = useParams({ strict: false });
  if (environmentId && roleIn(me, environmentId) === null) return <NotFoundPage />;
  if (match && !mayOpen(me, environmentId, match.staticData.roles)) {
    return <ForbiddenPage page={match.staticData.page} />;
  }
  return <Outlet />;
}

function Sidebar({ onOpenPalette }: { onOpenPalette(): void }) {
  const me = useMe();
  const { routesByPath } = useRouter();
  const environmentId = useEnvironmentId();
  const isShown = ({ to }: (typeof ENVIRONMENT_PAGES | typeof SERVICE_PAGES)[number]) =>
    mayOpen(me, to.includes("$") ? environmentId : null, routesByPath[to].options.staticData?.roles);
  return (
    <div className={css.sidebar}>
      <Brand />
      <EnvironmentSwitcher environmentId={environmentId} />
      {environmentId && <SearchLink environmentId={environmentId} />}
      <PaletteButton onPress={onOpenPalette} />
      <Navigation label={texts.environmentPages}>
        {environmentId &&
          ENVIRONMENT_PAGES.filter(isShown).map(({ to, name, icon }) => (
            <li key={to}>
              <Link className={css.link} to={to} params={{ environmentId }}>
                {icon} {name}
              </Link>
            </li>
          ))}
      </Navigation>
      <div className={css.foot}>
        <Navigation label={texts.servicePages}>
          {SERVICE_PAGES.filter(isShown).map(({ to, name, icon }) => (
            <li key={to}>
              <Link className={css.link} to={to}>
                {icon} {name}
              </Link>
            </li>
          ))}
        </Navigation>
        <div className={css.footActions}>
          <ThemeSwitch />
          <SignOut />
        </div>
      </div>
    </div>
  );
}

function Navigation({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label}>
      <ul className={css.links}>{children}</ul>
    </nav>
  );
}

function SignOut() {
  const { start, dialog } = useSignOut();
  return (
    <>
      <Button variant="quiet" iconOnly aria-label={texts.signOut} onPress={start}>
        <SignOutIcon />
      </Button>
      {dialog}
    </>
  );
}

const OPTIONS = [
  { value: "system", name: texts.themes.system, icon: <ScreenIcon /> },
  { value: "light", name: texts.themes.light, icon: <SunIcon /> },
  { value: "dark", name: texts.themes.dark, icon: <MoonIcon /> },
] as const;

function ThemeSwitch() {
  const theme = useSyncExternalStore(onThemeSelected, selectedTheme);
  return (
    <SegmentedControl label={texts.theme} hideLabel options={OPTIONS} value={theme} onChange={selectTheme} />
  );
}
