import { useState } from 'react'

/** The selected rows, by ID. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly toggle: (id: string) => void
  /** All of these, or none when they all are. */
  readonly toggleAll: (ids: readonly string[]) => void
  readonly clear: () => void
}

const NONE: ReadonlySet<string> = new Set()

/** Keeps a selection; what is not on the list any more is not selected any more either. */
export function useSelection(shown: readonly string[]): Selection {
  const [chosen, setChosen] = useState(NONE)
  const ids = chosen.size === 0 ? NONE : new Set(shown.filter((id) => chosen.has(id)))
  return {
    ids,
    toggle: (id) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setChosen(next)
    },
    toggleAll: (all) => setChosen(all.every((id) => ids.has(id)) ? NONE : new Set(all)),
    clear: () => setChosen(NONE),
  }
}
