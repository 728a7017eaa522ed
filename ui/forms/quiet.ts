/** How choices look that can be taken back. */
export const QUIET = { comboboxProps: { width: 'max-content' }, allowDeselect: true, clearable: true } as const
