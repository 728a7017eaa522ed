/** How work is performed: the kind, and the options of that kind. */
export interface ExecutorInput {
  readonly kind: string
  readonly [option: string]: unknown
}
