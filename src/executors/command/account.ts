/**
 * Whom programs run as when we are root: nobody who owns anything. Not `nobody` itself, to whom the files of the
 * embedded database belong then.
 */
const STRANGER = { uid: 65_533, gid: 65_533 }

/** As whom programs run; null: as ourselves, who are nobody special. */
export const strangerOf = (): { readonly uid: number; readonly gid: number } | null =>
  process.getuid?.() === 0 ? STRANGER : null
