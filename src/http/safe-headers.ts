/**
 * What every answer says unless it says otherwise: nobody keeps a copy of what was meant for one caller, and nobody takes
 * what somebody has sent us for a page because it looks like one.
 */
export const SAFE_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const
