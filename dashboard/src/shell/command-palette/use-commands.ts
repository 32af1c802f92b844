import type { OperatorRole } from "@subtext/server/db/enums";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useContext } from "react";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { useUploads } from "../../features/uploads/use-uploads.ts";
import { PageCommandsContext } from "../../hooks/page-commands.ts";
import { mayOpen, roleIn, useMe } from "../../hooks/use-me.ts";
import { OPEN_HASH } from "../../hooks/use-open-hash.ts";
import { shell as texts } from "../../messages/en/shell.ts";
import { LOCALE } from "../../messages/locale.ts";
import { selectTheme, shownTheme } from "../../ui/theme/theme.ts";
import { videoName } from "../../ui/video-state.tsx";
import { ENVIRONMENT_PAGES, SERVICE_PAGES } from "../pages.tsx";

export interface Command {
  id: string;
  name: string;
  /** Runs after the palette has closed. */
  run(): void;
}

export interface CommandGroup {
  name: string;
  commands: Command[];
}

/** Actions whose dialogs the shell renders. */
export interface PaletteDialogs {
  onSignOut(): void;
  onNewEnvironment(): void;
}

const MAX_VIDEOS = 8;

/**
 * Returns the commands that match the text and that the operator may run, without empty groups. Omits commands that match
 * only an earlier text, because Enter may follow the last letter immediately.
 * @param searchedText the text that the server searches for, which may be behind `text` while the operator types
 */
export function useCommands(
  environmentId: string | null,
  text: string,
  searchedText: string,
  dialogs: PaletteDialogs,
): { groups: CommandGroup[]; isSearching: boolean } {
  const videos = useVideos(environmentId, text, searchedText);
  const groups: CommandGroup[] = [
    {
      name: texts.palette.groups.actions,
      commands: useActions(environmentId, dialogs).filter(matching(text)),
    },
    // Not first, because Enter runs the first command, and some of these do not ask for confirmation.
    { name: texts.palette.groups.page, commands: usePageActions().filter(matching(text)) },
    { name: texts.palette.groups.pages, commands: usePages(environmentId).filter(matching(text)) },
    {
      name: texts.palette.groups.environments,
      commands: useEnvironments(environmentId).filter(matching(text)),
    },
    { name: texts.palette.groups.videos, commands: videos.commands },
  ];
  return { groups: groups.filter(({ commands }) => commands.length > 0), isSearching: videos.isSearching };
}

/** Every word of the text must occur in the name. */
function matching(text: string): (command: Command) => boolean {
  const words = text.toLocaleLowerCase(LOCALE).split(/\s+/).filter(Boolean);
  return ({ name }) => words.every((word) => name.toLocaleLowerCase(LOCALE).includes(word));
}

function usePageActions(): Command[] {
  const commands = useContext(PageCommandsContext);
  // The IDs of elements must not contain spaces.
  return [...commands.values()]
    .flat()
    .map(({ name, run }) => ({ id: `page-${encodeURIComponent(name)}`, name, run }));
}

function useActions(
  environmentId: string | null,
  { onSignOut, onNewEnvironment }: PaletteDialogs,
): Command[] {
  const me = useMe();
  const navigate = useNavigate();
  const { uploads } = useUploads();
  const role = environmentId === null ? null : roleIn(me, environmentId);
  const isOneOf = (...roles: OperatorRole[]) => role !== null && roles.includes(role);
  const next = shownTheme() === "dark" ? "light" : "dark";
  return [
    isOneOf("owner", "editor") && {
      id: "upload",
      name: texts.palette.upload,
      run: () => pickFiles((files) => uploads.add(environmentId!, files)),
    },
    isOneOf("owner") && {
      id: "new-key",
      name: texts.palette.createKey,
      run: () =>
        void navigate({
          to: "/environments/$environmentId/api-keys",
          params: { environmentId: environmentId! },
          hash: OPEN_HASH,
        }),
    },
    me.role === "owner" && {
      id: "invite-operator",
      name: texts.palette.inviteOperator,
      run: () => void navigate({ to: "/operators", hash: OPEN_HASH }),
    },
    me.role === "owner" && { id: "new-environment", name: texts.newEnvironment, run: onNewEnvironment },
    { id: "theme", name: texts.palette.switchTheme[next], run: () => selectTheme(next) },
    { id: "sign-out", name: texts.signOut, run: onSignOut },
  ].filter((command) => command !== false);
}

function pickFiles(onPicked: (files: File[]) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = "video/*,audio/*,.mkv,.ts";
  input.hidden = true;
  input.addEventListener("change", () => {
    input.remove();
    onPicked([...(input.files ?? [])]);
  });
  input.addEventListener("cancel", () => input.remove());
  document.body.append(input);
  input.click();
}

function usePages(environmentId: string | null): Command[] {
  const me = useMe();
  const navigate = useNavigate();
  const { routesByPath } = useRouter();
  const inEnvironment = environmentId === null ? [] : [...ENVIRONMENT_PAGES, SEARCH_PAGE];
  return [...inEnvironment, ...SERVICE_PAGES]
    .filter(({ to }) => {
      const scope = to.includes("$") ? environmentId : null;
      return mayOpen(me, scope, routesByPath[to].options.staticData?.roles);
    })
    .map(({ to, name }) => ({
      id: to,
      name,
      run: () => void navigate({ to, params: { environmentId: environmentId ?? "" } }),
    }));
}

const SEARCH_PAGE = { to: "/environments/$environmentId/search", name: texts.pages.search } as const;

function useEnvironments(current: string | null): Command[] {
  const navigate = useNavigate();
  const { data: environments = [] } = useQuery(environmentsQuery);
  return environments
    .filter(({ id }) => id !== current)
    .map(({ id, name }) => ({
      id,
      name,
      run: () => void navigate({ to: "/environments/$environmentId/videos", params: { environmentId: id } }),
    }));
}

/**
 * Videos with this ID or whose name or other metadata contains the text. Until the server responds, those of the previous
 * response whose name contains every word of it.
 */
function useVideos(
  environmentId: string | null,
  text: string,
  searchedText: string,
): { commands: Command[]; isSearching: boolean } {
  const navigate = useNavigate();
  const { data, isPlaceholderData, isLoading } = useQuery({
    queryKey: ["palette-videos", environmentId, searchedText],
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/videos", {
        params: { environment: environmentId! },
        query: { text: searchedText, limit: MAX_VIDEOS },
        signal,
      }),
    enabled: environmentId !== null && searchedText !== "",
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  if (text === "" || environmentId === null) return { commands: [], isSearching: false };
  const videos = (data?.data ?? []).map((video) => ({
    id: video.id,
    name: videoName(video),
    run: () =>
      void navigate({
        to: "/environments/$environmentId/videos/$videoId",
        params: { environmentId, videoId: video.id },
      }),
  }));
  const isSearching = text !== searchedText || isPlaceholderData || isLoading;
  return { commands: isSearching ? videos.filter(matching(text)) : videos, isSearching };
}
