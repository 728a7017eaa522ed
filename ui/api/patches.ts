import type { QueryClient } from '@tanstack/react-query'
import type { EventView } from '../../src/features/events/schema.ts'
import type { Page } from '../../src/api/page.ts'
import type { RunView } from '../../src/features/runs/schema.ts'

/** Puts what an event says about a run into every list that has it, so that it shows before anything is fetched. */
export function patchRun(queryClient: QueryClient, { subject, data }: EventView): void {
  const status = data['status']
  if (typeof status !== 'string') return
  const change: Partial<RunView> = { status: status as RunView['status'] }
  queryClient.setQueriesData<Page<RunView>>({ queryKey: ['runs', 'list'] }, (page) => patched(page, subject, change))
  // Not what is kept below it: an explanation belongs to the state that it explains.
  queryClient.setQueriesData<RunView>({ queryKey: ['runs', 'get', subject], exact: true }, (run) =>
    run === undefined ? run : { ...run, ...change },
  )
}

/** The same page when the run is not on it, so that nothing is drawn again. */
function patched(page: Page<RunView> | undefined, id: string, change: Partial<RunView>): Page<RunView> | undefined {
  // Pages that are read one after the other are remembered in another shape, and are fetched instead.
  if (page === undefined || !('items' in page) || !page.items.some((run) => run.id === id)) return page
  return { ...page, items: page.items.map((run) => (run.id === id ? { ...run, ...change } : run)) }
}
