import type { transformSync } from 'rolldown/utils'

export function transpile(transform: typeof transformSync, file: string, text: string): string
