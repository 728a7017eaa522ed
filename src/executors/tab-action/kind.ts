import { noOptions, type ExecutorSpec } from '../kind.ts'

/** Only the operator configures browser instances, so an agent has no options. */
export const TAB_ACTION = {
  kind: 'tab-action',
  about: 'acts in a browser tab, as configured in `tasks.executor`',
  concept: 'a browser tab; the operator configures the browsers',
  timeoutSeconds: 10,
  isInline: true,
  parse: noOptions,
  console: {
    name: { en: 'Browser tab (tab-action)', zh: '浏览器标签页（tab-action）' },
    fields: [],
  },
} as const satisfies ExecutorSpec<'tab-action'>
