/**
 * Intl answers with the zone a name stands for today (Asia/Calcutta for Asia/Kolkata), which is not what the user
 * wrote and not what people expect to read. So the name is kept and only its letter case is put right.
 */

/** The names of IANA without a slash. Intl knows others, such as BST, which it takes for Bangladesh. */
const BARE_NAMES = (
  'UTC GMT UCT Zulu Universal Greenwich GMT0 GMT+0 GMT-0 EST MST HST EST5EDT CST6CDT MST7MDT PST8PDT CET EET MET WET ' +
  'Cuba Egypt Eire GB GB-Eire Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya NZ NZ-CHAT Navajo PRC Poland ' +
  'Portugal ROC ROK Singapore Turkey W-SU'
).split(' ')

/** Words that capital letters at the beginning would get wrong, in names that Intl replaces by another one. */
const ODD_WORDS = new Map(
  'US ACT NSW LHI GMT UTC UCT GMT0 BajaNorte BajaSur EasterIsland DeNoronha IN of es au da'
    .split(' ')
    .map((word) => [word.toLowerCase(), word]),
)

const AREAS =
  /^(africa|america|antarctica|arctic|asia|atlantic|australia|brazil|canada|chile|etc|europe|indian|mexico|pacific|us)\//i

/** Whether a text may be the name of a zone at all: offsets, POSIX rules and private names of ICU are not. */
export const isZoneNameLike = (name: string): boolean => AREAS.test(name) || bareName(name) !== undefined

/** The name in the case IANA writes it in; `canonical` is Intl's answer to it. */
export function conventionalZoneName(name: string, canonical: string): string {
  if (name.toLowerCase() === canonical.toLowerCase()) return canonical
  return bareName(name) ?? name.toLowerCase().replace(/[a-z0-9]+/g, (word) => ODD_WORDS.get(word) ?? capitalised(word))
}

const bareName = (name: string): string | undefined =>
  BARE_NAMES.find((bare) => bare.toLowerCase() === name.toLowerCase())

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
