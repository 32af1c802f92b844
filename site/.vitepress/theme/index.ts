// The variant without fonts: system fonts need no download.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
