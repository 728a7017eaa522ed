import { HTTP_METHODS, parseHttpOptions, sampleUrl, type HttpOptions } from './options.ts'
import type { ExecutorSpec, OptionField } from '../kind.ts'

/** Headers that are sent with every request. */
export const HEADERS_FIELD = {
  name: 'headers',
  input: 'pairs',
  label: { en: 'Headers', zh: '请求头' },
  hint: {
    en: 'One per line. Reference secrets for credentials; values are hidden here.',
    zh: '每行一个。敏感信息请引用凭据；此处不显示值。',
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
  concept: 'a server that is called, and responds or reports later',
  timeoutSeconds: 10,
  isInline: true,
  parse: parseHttpOptions,
  address: ({ url = null }) => {
    const read = parseHttpOptions('executor', { kind: 'http', url })
    return read.ok ? { url: sampleUrl(read.value), option: 'url' } : null
  },
  console: {
    name: { en: 'HTTP server (http)', zh: 'HTTP 服务器（http）' },
    place: 'url',
    fields: [
      {
        name: 'url',
        input: 'code',
        label: { en: 'URL', zh: 'URL' },
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
        label: { en: 'Custom request body', zh: '自定义请求体' },
        hint: { en: 'JSON sent instead of the default dispatch.', zh: '用此 JSON 代替默认的派发内容。' },
      },
      {
        name: 'async',
        input: 'flag',
        label: { en: 'Async (callback)', zh: '异步（回调）' },
        hint: {
          en: 'After a 202 response, the result comes by callback.',
          zh: '响应 202 后，结果通过回调返回。',
        },
      },
      {
        name: 'success_when',
        input: 'json',
        fields: SUCCESS_WHEN,
        label: { en: 'Success condition', zh: '成功条件' },
        hint: {
          en: 'What the response must match: status, or a path (JSON pointer) with equals, contains or exists.',
          zh: '响应须满足：status，或 path（JSON 指针）配合 equals、contains、exists。',
        },
        example: '{"path": "/ok", "equals": true}',
      },
    ],
  },
} as const satisfies ExecutorSpec<'http', HttpOptions>
