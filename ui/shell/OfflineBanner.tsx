import { IconPlugConnectedX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useLive } from '../api/live-status.ts'
import { useTexts } from '../texts/TextProvider.tsx'
import { clockTime } from '../time/zone.ts'

/** Says that nothing is heard of the server, and from when on what is shown may be old. */
export function OfflineBanner(): ReactNode {
  const { say, locale } = useTexts()
  const { status, since } = useLive()
  if (status !== 'offline') return null
  return (
    <div className="offline" role="alert">
      <IconPlugConnectedX size={16} aria-hidden />
      {say('offline.banner', { time: clockTime(since, { locale }) })}
    </div>
  )
}
