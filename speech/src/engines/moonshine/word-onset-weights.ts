// Written by bench/src/train-word-onsets.ts.

export const ONSET_BIAS = -3.699;
export const ONSET_SCALE = 0.01799;
/** Base64 of an 8-bit integer for each value of a state, in units of `ONSET_SCALE`. */
export const ONSET_WEIGHTS =
  "JODP9P8U8uQN9A3pHgc/FP3z7erIGiskA+E37N8CswvsFwYLq9bhIvkJDgPtWdgS5d/4K/jDI/vzkxIJHfsHLvMOTBEHBgzjK9f8IxPz/gYWDttP8vQq494hFO8l9zwC/PbGEgrnHimYLkW8+L3urwcTM/XMuQstEib8L07tJeL1/NMBFfosB34vnvPOEf8eKQbiB1Wu39M1H+IY6fPLGCAt///s+TW5Nu/f7GkL4tz9JhX/E84e3jy8vg3dFNE1AeD59t/0HPGw//IgOOn6IAoBNRQTIN4E3Qzz3Iw74fwODzENHQX6DtvDCgf2CggC+fEX4usk7vgF/PvlA1IL2c/o3u4cSgA0t9TQ2/r+2oEl3gcZ9Af02QQAHSTn2fK8";
