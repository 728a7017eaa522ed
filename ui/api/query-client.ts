import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { EscapementError } from '../../src/client/errors.ts'
import { isSignedOut } from './refusal.ts'

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** Events make it old, but it is read again at most this often: figures over hours need no more. */
      readonly calmMs?: number
    }
  }
}

const MOST_TRIES = 2

let signedOut: () => void = () => undefined

/** Says what is to happen when the server knows this browser no more. */
export function whenSignedOut(call: () => void): void {
  signedOut = call
}

const onError = (error: unknown): void => {
  if (isSignedOut(error)) signedOut()
}

/** The memory of what the server said. Events say when something in it is old, so it is believed until then. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      // The stream of events knows better than the browser whether the server is there.
      networkMode: 'always',
      retry: (failures, error) =>
        failures < MOST_TRIES && !(error instanceof EscapementError && error.status !== null && error.status < 500),
    },
    mutations: { networkMode: 'always', retry: false },
  },
})
