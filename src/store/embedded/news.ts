/** What the embedded server has to tell, for the log and for the person at the terminal. */
export interface EmbeddedNews {
  readonly kind:
    | 'account_assumed'
    | 'files_elsewhere'
    | 'binaries_copied'
    | 'initialised'
    | 'started'
    | 'adopted'
    | 'stale_pid_file'
    | 'lost'
    | 'still_away'
    | 'returned'
  readonly message: string
}
