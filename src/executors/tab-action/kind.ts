import { noOptions, type ExecutorSpec } from '../kind.ts'

/** Where browsers are is the operator's word alone, so an agent has nothing to say. */
export const TAB_ACTION = {
  kind: 'tab-action',
  about: 'acts in a browser tab, as `tasks.executor` says',
  concept: "a browser tab; where browsers are is the operator's word",
  timeoutSeconds: 10,
  isInline: true,
  parse: noOptions,
  console: {
    name: { en: 'Acts in a browser tab (tab-action)', zh: '在浏览器标签页中操作（tab-action）' },
    fields: [],
  },
} as const satisfies ExecutorSpec<'tab-action'>
