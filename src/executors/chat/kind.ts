import { MOST_PRICE } from '../../core/chat/chat-fields.ts'
import {
  completionsUrl,
  HOTTEST,
  LONGEST_KEY,
  LONGEST_MODEL,
  LONGEST_PROMPT,
  MOST_TOKENS,
  parseChatOptions,
  type ChatOptions,
} from './options.ts'
import type { ExecutorSpec } from '../kind.ts'
import { HEADERS_FIELD } from '../http/kind.ts'

const PRICE = { input: 'number', min: 0, max: MOST_PRICE, isRequired: true } as const

export const CHAT = {
  kind: 'chat',
  about:
    'asks `model` at `base_url` (with `api_key`, `headers`, `system_prompt`, `temperature`, `max_tokens`, `stream`, `history`, `prices`, `body`)',
  concept: 'a [model](#models) behind an OpenAI-compatible server',
  timeoutSeconds: 600,
  isInline: false,
  parse: parseChatOptions,
  address: ({ base_url = null, model = 'any' }) => {
    const read = parseChatOptions('executor', { kind: 'chat', base_url, model })
    return read.ok ? { url: completionsUrl(read.value), option: 'base_url' } : null
  },
  console: {
    name: { en: 'Asks a model (chat)', zh: '询问模型（chat）' },
    place: 'model',
    fields: [
      {
        name: 'base_url',
        input: 'code',
        label: { en: 'Address of the model server', zh: '模型服务器地址' },
        example: 'https://api.openai.com/v1',
        isRequired: true,
      },
      {
        name: 'model',
        input: 'code',
        label: { en: 'Model', zh: '模型' },
        example: 'gpt-4o-mini',
        isRequired: true,
        min: 1,
        max: LONGEST_MODEL,
      },
      {
        name: 'api_key',
        input: 'code',
        label: { en: 'Key', zh: '密钥' },
        hint: {
          en: 'Name a secret; the key itself is never kept with the agent.',
          zh: '请引用密钥名；密钥本身不会随智能体保存。',
        },
        example: '{{secret:OPENAI_KEY}}',
        min: 1,
        max: LONGEST_KEY,
      },
      {
        name: 'system_prompt',
        input: 'area',
        label: { en: 'What it is told first', zh: '系统提示' },
        max: LONGEST_PROMPT,
      },
      {
        name: 'temperature',
        input: 'number',
        label: { en: 'Temperature', zh: '温度' },
        min: 0,
        max: HOTTEST,
      },
      {
        name: 'max_tokens',
        input: 'number',
        label: { en: 'Most tokens of an answer', zh: '回答的最大令牌数' },
        min: 1,
        max: MOST_TOKENS,
        isWhole: true,
      },
      {
        name: 'stream',
        input: 'flag',
        label: { en: 'Show the answer as it is written', zh: '边写边显示回答' },
        usual: true,
      },
      {
        name: 'history',
        input: 'flag',
        label: { en: 'Remember the conversation', zh: '记住对话' },
        hint: { en: 'Sends what was said before in the session.', zh: '发送会话中之前的内容。' },
        usual: true,
      },
      {
        name: 'prices',
        input: 'json',
        fields: [
          { name: 'input', ...PRICE },
          { name: 'output', ...PRICE },
        ],
        label: { en: 'Prices', zh: '价格' },
        hint: { en: 'Money per million tokens, so that costs are counted.', zh: '每百万令牌的价格，用于计算费用。' },
        example: '{"input": 0.15, "output": 0.6}',
      },
      HEADERS_FIELD,
      {
        name: 'body',
        input: 'json',
        fields: 'any',
        label: { en: 'More for the model server', zh: '附加字段' },
        hint: { en: 'Fields that are sent along as they are.', zh: '原样发送给模型服务器的字段。' },
      },
    ],
  },
} as const satisfies ExecutorSpec<'chat', ChatOptions>
