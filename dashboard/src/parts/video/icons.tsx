import { Icon } from "../../design/icons.tsx";

export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.25" />
    <path d="m10.25 10.25 3.5 3.5" />
  </Icon>
);
export const UpIcon = () => (
  <Icon>
    <path d="m4 10 4-4 4 4" />
  </Icon>
);
export const DownIcon = () => (
  <Icon>
    <path d="m4 6 4 4 4-4" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon>
    <rect x="5.25" y="5.25" width="8.5" height="8.5" rx="1.75" />
    <path d="M10.75 5.25V4A1.75 1.75 0 0 0 9 2.25H4A1.75 1.75 0 0 0 2.25 4v5A1.75 1.75 0 0 0 4 10.75h1.25" />
  </Icon>
);
export const DownloadIcon = () => (
  <Icon>
    <path d="M8 2.5v8M4.75 7.5 8 10.75l3.25-3.25M2.5 10.5v1.75a1.5 1.5 0 0 0 1.5 1.5h8a1.5 1.5 0 0 0 1.5-1.5V10.5" />
  </Icon>
);
export const KeyboardIcon = () => (
  <Icon>
    <rect x="1.75" y="3.75" width="12.5" height="8.5" rx="1.75" />
    <path d="M4.5 6.5h.01M7 6.5h.01M9.25 6.5h.01M11.5 6.5h.01M5.5 9.5h5" />
  </Icon>
);
export const BackIcon = () => (
  <Icon>
    <path d="M9.75 3.5 5.25 8l4.5 4.5" />
  </Icon>
);
export const FollowIcon = () => (
  <Icon>
    <path d="M8 2.5v8.75M4.5 8 8 11.5 11.5 8M3.5 13.75h9" />
  </Icon>
);
