import { api } from './api/api.ts'
import { connections } from './connections/connections.ts'
import { parsers } from './parsers/parsers.ts'
import type { Part } from './part.ts'

/** Everything that is tried by `npm run fuzz`, in this order. */
export const PARTS: readonly Part[] = [parsers, api, connections]
