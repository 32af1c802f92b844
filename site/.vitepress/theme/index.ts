// Without the theme's own font: system fonts are readable and need no download.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
