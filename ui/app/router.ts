import { createRouter } from '@tanstack/react-router'
import { PagePending } from '../shell/PagePending.tsx'
import { PageCrash } from '../shell/PageCrash.tsx'
import { routeTree } from './routes.ts'

/** Where the person is, and how they get elsewhere. */
export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageCrash,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router
  }
}
