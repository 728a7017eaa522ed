import { Button, Menu } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useAct } from '../../api/use-act.ts'
import { useTexts } from '../../texts/TextProvider.tsx'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { csvOf, MOST_EXPORTED, readRuns, type ExportFormat } from './export.ts'
import type { RunSearch } from './run-search.ts'

/** Saves the runs of the filter as a file. */
export function ExportMenu({ search }: { readonly search: RunSearch }): ReactNode {
  const { say, locale } = useTexts()
  const { run, isPending } = useAct({
    act: async (format: ExportFormat) => {
      const runs = await readRuns(search)
      saveRuns(runs, format)
      return runs.length
    },
    touches: [],
    told: (count) => ({
      tone: 'done',
      message: say(count === MOST_EXPORTED ? 'runs.export.cut' : 'runs.export.done', {
        count: count.toLocaleString(locale),
      }),
    }),
  })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" loading={isPending} leftSection={<IconDownload size={14} aria-hidden />}>
          {say('runs.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => run('csv')}>{say('runs.export.csv')}</Menu.Item>
        <Menu.Item onClick={() => run('json')}>{say('runs.export.json')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Saves runs as a file. */
function saveRuns(runs: readonly RunView[], format: ExportFormat): void {
  const text = format === 'csv' ? csvOf(runs) : `${JSON.stringify(runs, null, 2)}\n`
  const type = format === 'csv' ? 'text/csv;charset=utf-8' : 'application/json'
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = `runs-${new Date().toISOString().slice(0, 10)}.${format}`
  link.click()
  URL.revokeObjectURL(url)
}
