/** Moves the focus within a tree as its keys say: up and down, to the ends, in and out. True when the key meant something. */
export function moveIn(tree: HTMLElement, key: string): boolean {
  const items = [...tree.querySelectorAll<HTMLElement>('[role="treeitem"]')]
  const at = items.findIndex((item) => item === document.activeElement)
  const current = items[at]
  if (current === undefined) return false
  switch (key) {
    case 'ArrowDown':
      return focus(tree, items[at + 1])
    case 'ArrowUp':
      return focus(tree, items[at - 1])
    case 'Home':
      return focus(tree, items[0])
    case 'End':
      return focus(tree, items.at(-1))
    case 'ArrowRight':
      return isOpen(current, 'false') ? twist(current) : focus(tree, within(current))
    case 'ArrowLeft':
      return isOpen(current, 'true') && twist(current) ? true : focus(tree, above(current))
    case 'Enter':
      return enter(current)
    default:
      return false
  }
}

const isOpen = (item: HTMLElement, state: 'true' | 'false'): boolean => item.getAttribute('aria-expanded') === state

const within = (item: HTMLElement): HTMLElement | undefined =>
  item.parentElement?.querySelector<HTMLElement>('ul [role="treeitem"]') ?? undefined

const above = (item: HTMLElement): HTMLElement | undefined =>
  item.parentElement?.parentElement?.closest('li')?.querySelector<HTMLElement>(':scope > [role="treeitem"]') ??
  undefined

/** One of them is reached with the tabulator: the one that was last walked to. */
function focus(tree: HTMLElement, item: HTMLElement | undefined): boolean {
  if (item === undefined) return true
  for (const other of tree.querySelectorAll<HTMLElement>('[role="treeitem"]')) other.tabIndex = other === item ? 0 : -1
  item.focus()
  return true
}

function twist(item: HTMLElement): boolean {
  const button = item.querySelector<HTMLElement>('[data-twist]')
  button?.click()
  return button !== null
}

function enter(item: HTMLElement): boolean {
  const door = item.querySelector<HTMLElement>('a')
  door?.click()
  return door !== null
}
