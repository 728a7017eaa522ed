/** A number in a field; empty while nothing is in it. */
export type Num = number | ''
