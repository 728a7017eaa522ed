/** The ways in which it can have gone wrong, in the order in which they are printed. */
export const WRONGS = [
  'lost',
  'doubled',
  'out of session order',
  'limits exceeded',
  'stuck',
  'early',
  'unfair',
  'unrecorded',
  'wrongly lost',
] as const
export type Wrong = (typeof WRONGS)[number]

/** One thing that went wrong, with the rows that show it. */
export interface Finding {
  readonly wrong: Wrong
  readonly what: string
  readonly rows: readonly unknown[]
}
