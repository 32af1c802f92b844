import { createElement, type FunctionComponent, type ReactElement } from "react";

const SVG = {
  width: 16,
  height: 16,
  viewBox: "0 0 16 16",
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.5,
  strokeLinecap: "round",
  strokeLinejoin: "round",
  "aria-hidden": true,
  focusable: false,
} as const;

/** Creates a decorative icon in the text color. Its label must be next to it or on its control. */
function icon(...shapes: ReactElement[]): FunctionComponent {
  return () => createElement("svg", SVG, ...shapes);
}

export const VideosIcon = icon(
  <rect x="1.75" y="3" width="12.5" height="10" rx="2" />,
  <path d="M6.75 6v4l3.25-2z" />,
);
export const AudioIcon = icon(<path d="M2.5 6.75v2.5M5.25 4v8M8 2.25v11.5M10.75 5v6M13.5 6.75v2.5" />);
export const SettingsIcon = icon(
  <path d="M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7" />,
  <circle cx="11" cy="4.5" r="1.75" />,
  <circle cx="5" cy="11.5" r="1.75" />,
);
export const KeyIcon = icon(
  <circle cx="5" cy="11" r="3" />,
  <path d="m7.25 8.75 6-6M11 5l2 2M8.9 7.1l1.6 1.6" />,
);
export const WebhookIcon = icon(<path d="M13.75 2.25 2 6.75l4.75 2.5L9.25 14zM6.75 9.25l7-7" />);
export const PeopleIcon = icon(
  <circle cx="6" cy="5.25" r="2.5" />,
  <path d="M1.75 13c.3-2.4 2-3.75 4.25-3.75S9.95 10.6 10.25 13M10.5 3a2.5 2.5 0 0 1 0 4.6M12 9.7c1.3.5 2.1 1.7 2.3 3.3" />,
);
export const AccountIcon = icon(
  <circle cx="8" cy="8" r="6.25" />,
  <circle cx="8" cy="6.5" r="2" />,
  <path d="M4 12.6c.7-1.7 2.2-2.5 4-2.5s3.3.8 4 2.5" />,
);
export const AuditIcon = icon(
  <path d="M5.75 4.5h7.5M5.75 8h7.5M5.75 11.5h4.5M2.75 4.5h.01M2.75 8h.01M2.75 11.5h.01" />,
);
export const SystemIcon = icon(<path d="M1.75 8.5h2.5l2-5 3 9.5 2-4.5h3" />);
export const SearchIcon = icon(<circle cx="7" cy="7" r="4.25" />, <path d="m10.25 10.25 3.5 3.5" />);
export const UploadIcon = icon(
  <path d="M8 10.5V2.5M4.75 5.5 8 2.25l3.25 3.25M2.5 10.5v1.75a1.5 1.5 0 0 0 1.5 1.5h8a1.5 1.5 0 0 0 1.5-1.5V10.5" />,
);
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />);
export const CheckIcon = icon(<path d="m3 8.5 3.25 3.25L13 4.75" />);
export const CloseIcon = icon(<path d="m4 4 8 8M12 4l-8 8" />);
export const UpDownIcon = icon(<path d="m5 6 3-3 3 3M5 10l3 3 3-3" />);
export const MenuIcon = icon(<path d="M2 4.5h12M2 8h12M2 11.5h12" />);
export const SunIcon = icon(
  <circle cx="8" cy="8" r="2.75" />,
  <path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7" />,
);
export const MoonIcon = icon(<path d="M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7z" />);
export const ScreenIcon = icon(
  <rect x="1.75" y="2.5" width="12.5" height="8.5" rx="1.5" />,
  <path d="M5.5 13.75h5" />,
);
export const SignOutIcon = icon(
  <path d="M6.5 2.5H4A1.5 1.5 0 0 0 2.5 4v8A1.5 1.5 0 0 0 4 13.5h2.5M10.5 11l3-3-3-3M13.25 8H6.5" />,
);
export const UpIcon = icon(<path d="m4 10 4-4 4 4" />);
export const DownIcon = icon(<path d="m4 6 4 4 4-4" />);
export const CopyIcon = icon(
  <rect x="5.25" y="5.25" width="8.5" height="8.5" rx="1.75" />,
  <path d="M10.75 5.25V4A1.75 1.75 0 0 0 9 2.25H4A1.75 1.75 0 0 0 2.25 4v5A1.75 1.75 0 0 0 4 10.75h1.25" />,
);
export const DownloadIcon = icon(
  <path d="M8 2.5v8M4.75 7.5 8 10.75l3.25-3.25M2.5 10.5v1.75a1.5 1.5 0 0 0 1.5 1.5h8a1.5 1.5 0 0 0 1.5-1.5V10.5" />,
);
export const KeyboardIcon = icon(
  <rect x="1.75" y="3.75" width="12.5" height="8.5" rx="1.75" />,
  <path d="M4.5 6.5h.01M7 6.5h.01M9.25 6.5h.01M11.5 6.5h.01M5.5 9.5h5" />,
);
export const BackIcon = icon(<path d="M9.75 3.5 5.25 8l4.5 4.5" />);
export const FollowIcon = icon(<path d="M8 2.5v8.75M4.5 8 8 11.5 11.5 8M3.5 13.75h9" />);
export const UndoIcon = icon(<path d="M5.5 3 2.5 6l3 3M3 6h6a4 4 0 0 1 0 8H6.5" />);
export const RedoIcon = icon(<path d="m10.5 3 3 3-3 3M13 6H7a4 4 0 0 0 0 8h2.5" />);
export const EditIcon = icon(<path d="m10.5 3 2.5 2.5-7.25 7.25-3 .5.5-3zM9 4.5 11.5 7" />);
export const HistoryIcon = icon(
  <path d="M2.5 8a5.5 5.5 0 1 1 1.6 3.9M2.5 13v-2.5H5" />,
  <path d="M8 5v3.25l2 1.25" />,
);
export const CommandIcon = icon(<path d="M3 4.5 6.5 8 3 11.5M8 12h5" />);
