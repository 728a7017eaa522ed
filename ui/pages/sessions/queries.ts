import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { MessageView } from '../../../src/features/sessions/schema.ts'
import type { Page } from '../../../src/api/page.ts'
import { api } from '../../api/client.ts'
import { isGone } from '../../api/refusal.ts'

const SESSIONS = 100
const MESSAGES = 30

/** Conversations, the newest first. */
export const sessionList = infiniteQueryOptions({
  queryKey: ['sessions', 'list'],
  queryFn: ({ pageParam, signal }) =>
    api.sessions.list({ limit: SESSIONS, ...(pageParam === null ? {} : { cursor: pageParam }) }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor: next }) => next,
  placeholderData: keepPreviousData,
})

/** New sessions in which nothing was sent yet: the server does not know them, so it is not asked. */
const unsaved = new Set<string>()

export const beginUnsaved = (key: string): void => void unsaved.add(key)

/** The first message creates the session. */
export const endUnsaved = (key: string): void => void unsaved.delete(key)

/** One session; null when it has no messages. */
export const sessionOf = (key: string) =>
  queryOptions({
    queryKey: ['sessions', 'get', key],
    queryFn: ({ signal }) => (unsaved.has(key) ? null : api.sessions.get(key, { signal }).catch(unlessGone(null))),
  })

const NOTHING: Page<MessageView> = { items: [], next_cursor: null }

/** What was said, page after page backwards. A conversation that is not there yet has nothing said in it. */
export const messagesOf = (key: string) =>
  infiniteQueryOptions({
    queryKey: ['sessions', 'messages', key],
    queryFn: async ({ pageParam, signal }) =>
      unsaved.has(key)
        ? NOTHING
        : api.sessions
            .messages(key, { limit: MESSAGES, ...(pageParam === null ? {} : { cursor: pageParam }) }, { signal })
            .catch(unlessGone(NOTHING)),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
  })

/** What stands for something that is not there; every other error stays one. */
const unlessGone =
  <Instead>(instead: Instead) =>
  (error: unknown): Instead => {
    if (isGone(error)) return instead
    throw error as Error
  }
