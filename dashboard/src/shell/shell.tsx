import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Dialog, DialogTrigger, Modal, ModalOverlay } from "react-aria-components";
import { messageOf, request } from "../admin-client/request.ts";
import { EnvironmentSwitcher } from "../features/environments/environment-switcher.tsx";
import { UploadPanel } from "../features/uploads/upload-panel.tsx";
import { useUploads } from "../features/uploads/use-uploads.ts";
import { lastEnvironment } from "../hooks/last-environment.ts";
import { LiveUpdatesContext } from "../hooks/live-updates.ts";
import { useMe } from "../hooks/use-me.ts";
import controls from "../ui/controls.module.css";
import { Button, ModalDialog, Notice } from "../ui/controls.tsx";
import {
  AccountIcon,
  AuditIcon,
  KeyIcon,
  MenuIcon,
  PeopleIcon,
  SettingsIcon,
  SignOutIcon,
  SystemIcon,
  VideosIcon,
  WebhookIcon,
} from "../ui/icons.tsx";
import mark from "../ui/logo.svg";
import { SearchLink, useSearchShortcut } from "./search-link.tsx";
import css from "./shell.module.css";
import { ThemeSwitch } from "./theme-switch.tsx";
import { useReachable } from "./use-server-reachable.ts";

/** What stands around every page of someone who is signed in. */
export function Shell() {
  // The page that is shown; the location changes before its page is there.
  const path = useRouterState({
    select: ({ resolvedLocation, location }) => (resolvedLocation ?? location).pathname,
  });
  const main = useRef<HTMLElement>(null);
  const lastPath = useRef(path);
  const [drawerOpen, setDrawerOpen] = useState(false);
  const isReachable = useReachable();
  const [isLive, setLive] = useState(true);
  const { environmentId = lastEnvironment() } = useParams({ strict: false });
  useSearchShortcut(environmentId);

  useEffect(() => {
    if (lastPath.current === path) return;
    lastPath.current = path;
    setDrawerOpen(false);
    // After a change of page the keyboard, and a screen reader, go on at its beginning.
    const title =
      main.current?.querySelector<HTMLElement>("[data-begin]") ??
      main.current?.querySelector<HTMLElement>("h1");
    (title ?? main.current)?.focus({ preventScroll: true });
  }, [path]);

  return (
    <>
      <a className={css.skip} href="#main">
        Skip to content
      </a>
      <div className={css.shell}>
        <aside className={css.desk} aria-label="Subtext">
          <Side />
        </aside>
        <header className={css.bar}>
          <Brand />
          <DialogTrigger isOpen={drawerOpen} onOpenChange={setDrawerOpen}>
            <Button look="quiet" square aria-label="Menu">
              <MenuIcon />
            </Button>
            <ModalOverlay className={css.drawerVeil ?? ""} isDismissable>
              <Modal className={css.drawer ?? ""}>
                <Dialog className={css.drawerBody ?? ""} aria-label="Menu">
                  <Side />
                </Dialog>
              </Modal>
            </ModalOverlay>
          </DialogTrigger>
        </header>
        <main className={css.main} id="main" ref={main} tabIndex={-1}>
          <div role="status">
            {!(isReachable && isLive) && (
              <p className={`${controls.notice} ${css.unreachable}`} data-tone="wait">
                Connection lost. Reconnecting… Data may be out of date.
              </p>
            )}
          </div>
          <LiveUpdatesContext value={setLive}>
            <Outlet />
          </LiveUpdatesContext>
        </main>
      </div>
      <UploadPanel />
    </>
  );
}

export function Brand() {
  return (
    <div className={css.brand}>
      <img src={mark} alt="" />
      Subtext
    </div>
  );
}

function Side() {
  const { isOwner } = useMe();
  const { environmentId = lastEnvironment() } = useParams({ strict: false });
  return (
    <div className={css.side}>
      <Brand />
      <EnvironmentSwitcher environmentId={environmentId} />
      {environmentId && <SearchLink environmentId={environmentId} />}
      <nav aria-label="Pages">
        <ul className={css.links}>
          {environmentId && (
            <>
              <li>
                <Link
                  className={css.link}
                  to="/environments/$environmentId/videos"
                  params={{ environmentId }}
                >
                  <VideosIcon /> Videos
                </Link>
              </li>
              <li>
                <Link
                  className={css.link}
                  to="/environments/$environmentId/api-keys"
                  params={{ environmentId }}
                >
                  <KeyIcon /> API keys
                </Link>
              </li>
              <li>
                <Link
                  className={css.link}
                  to="/environments/$environmentId/webhooks"
                  params={{ environmentId }}
                >
                  <WebhookIcon /> Webhooks
                </Link>
              </li>
              <li>
                <Link
                  className={css.link}
                  to="/environments/$environmentId/settings"
                  params={{ environmentId }}
                >
                  <SettingsIcon /> Settings
                </Link>
              </li>
            </>
          )}
        </ul>
      </nav>
      <div className={css.foot}>
        <nav aria-label="Service">
          <ul className={css.links}>
            <li>
              <Link className={css.link} to="/system">
                <SystemIcon /> System
              </Link>
            </li>
            <li>
              <Link className={css.link} to="/operators">
                <PeopleIcon /> Operators
              </Link>
            </li>
            {isOwner && (
              <li>
                <Link className={css.link} to="/audit">
                  <AuditIcon /> Audit log
                </Link>
              </li>
            )}
            <li>
              <Link className={css.link} to="/account">
                <AccountIcon /> Account
              </Link>
            </li>
          </ul>
        </nav>
        <div className={css.ends}>
          <ThemeSwitch />
          <SignOut />
        </div>
      </div>
    </div>
  );
}

function SignOut() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { uploads } = useUploads();
  const [isAsking, setAsking] = useState(false);
  const signOut = useMutation({
    mutationFn: () => request("POST /auth/sign-out"),
    onSuccess: async () => {
      // What this person saw and sends is nobody else's.
      await uploads.stop();
      await navigate({ to: "/sign-in" });
      queryClient.removeQueries({ type: "inactive" });
    },
    onError: () => setAsking(true),
  });
  return (
    <>
      <Button
        look="quiet"
        square
        aria-label="Sign out"
        onPress={() => (uploads.isBusy ? setAsking(true) : signOut.mutate())}
      >
        <SignOutIcon />
      </Button>
      <ModalDialog title="Sign out?" isOpen={isAsking} onOpenChange={setAsking}>
        {(close) => (
          <>
            {uploads.isBusy && (
              <p>Uploads are still running. They stop now, and resume when you add the same files again.</p>
            )}
            {signOut.error && <Notice tone="bad">{messageOf(signOut.error)}</Notice>}
            <div className={controls.actions}>
              <Button onPress={close}>Cancel</Button>
              <Button look="primary" onPress={() => signOut.mutate()} isPending={signOut.isPending}>
                Sign out
              </Button>
            </div>
          </>
        )}
      </ModalDialog>
    </>
  );
}
