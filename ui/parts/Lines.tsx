import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'

/** Grey lines where text will be, as many and as high as the text. */
export function Lines({ count = 3, height = 16 }: { readonly count?: number; readonly height?: number }): ReactNode {
  const say = useSay()
  return (
    <div className="lines" role="status" aria-label={say('loading')}>
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} height={height} radius="sm" width={`${90 - ((index * 17) % 40)}%`} />
      ))}
    </div>
  )
}
