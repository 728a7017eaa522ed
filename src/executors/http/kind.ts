import { HTTP_METHODS, parseHttpOptions, sampleUrl, type HttpOptions } from './options.ts'
import type { ExecutorSpec, OptionField } from '../kind.ts'

/** Headers that are sent with every request. */
export const HEADERS_FIELD = {
  name: 'headers',
  input: 'pairs',
  label: { en: 'Headers', zh: '请求头' },
  hint: {
    en: 'One per line. Credentials are named as secrets, and are hidden here.',
    zh: '每行一个。凭据请以密钥引用，此处不显示。',
  },
} as const satisfies OptionField

const SUCCESS_WHEN = [
  { name: 'status', input: 'list', min: 1, each: { input: 'number', min: 200, max: 599, isWhole: true } },
  { name: 'path', input: 'code' },
  { name: 'equals', input: 'json' },
  { name: 'contains', input: 'json' },
  { name: 'exists', input: 'flag' },
] as const

export const HTTP = {
  kind: 'http',
  about: 'calls `url` (with `method`, `headers`, `body`, `async`, `success_when`)',
  concept: 'a server that is called, and answers or reports later',
  timeoutSeconds: 10,
  isInline: true,
  parse: parseHttpOptions,
  address: ({ url = null }) => {
    const read = parseHttpOptions('executor', { kind: 'http', url })
    return read.ok ? { url: sampleUrl(read.value), option: 'url' } : null
  },
  console: {
    name: { en: 'Calls a server (http)', zh: '调用服务器（http）' },
    place: 'url',
    fields: [
      {
        name: 'url',
        input: 'code',
        label: { en: 'Address', zh: '地址' },
        example: 'https://agents.example.com/writer',
        isRequired: true,
      },
      {
        name: 'method',
        input: 'choice',
        label: { en: 'Method', zh: '方法' },
        example: 'POST',
        choices: HTTP_METHODS,
        usual: 'POST',
      },
      { ...HEADERS_FIELD, example: 'Authorization: Bearer {{secret:NAME}}' },
      {
        name: 'body',
        input: 'json',
        label: { en: 'Body of its own', zh: '自定义请求体' },
        hint: { en: 'JSON in place of the usual dispatch.', zh: '用此 JSON 代替通常的派发内容。' },
      },
      {
        name: 'async',
        input: 'flag',
        label: { en: 'Reports later', zh: '稍后报告' },
        hint: {
          en: 'Every answer 202 means that the result comes by callback.',
          zh: '每个 202 回答都表示结果将通过回调到达。',
        },
      },
      {
        name: 'success_when',
        input: 'json',
        fields: SUCCESS_WHEN,
        label: { en: 'Succeeded when', zh: '成功条件' },
        hint: {
          en: 'What must hold for the answer: status, or a path (JSON pointer) with equals, contains or exists.',
          zh: '回答须满足：status，或 path（JSON 指针）配合 equals、contains、exists。',
        },
        example: '{"path": "/ok", "equals": true}',
      },
    ],
  },
} as const satisfies ExecutorSpec<'http', HttpOptions>
