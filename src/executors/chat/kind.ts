import {
  CHAT_APIS,
  type ChatOptions,
  MAX_TEMPERATURE,
  MAX_KEY_LENGTH,
  MAX_MODEL_LENGTH,
  MAX_SYSTEM_PROMPT_LENGTH,
  MAX_OUTPUT_TOKENS,
  parseChatOptions,
  requestUrl,
} from './options.ts'
import { MAX_PRICE } from './prices.ts'
import type { ExecutorSpec } from '../kind.ts'
import { HEADERS_FIELD } from '../http/kind.ts'

const PRICE = { input: 'number', min: 0, max: MAX_PRICE } as const

export const CHAT = {
  kind: 'chat',
  about:
    'calls `model` at `base_url` in the words of `api` (with `api_key`, `headers`, `system_prompt`, `temperature`, `max_tokens`, `stream`, `background`, `history`, `prices`, `body`)',
  concept: 'a [model](#models) behind an API of OpenAI, Anthropic or Ollama',
  timeoutSeconds: 600,
  isInline: false,
  parse: parseChatOptions,
  address: ({ base_url = null, model = 'any', api = null }) => {
    const read = parseChatOptions('executor', { kind: 'chat', base_url, model, api })
    return read.ok ? { url: requestUrl(read.value), option: 'base_url' } : null
  },
  console: {
    name: { en: 'Chat model (chat)', zh: '对话模型（chat）' },
    place: 'model',
    fields: [
      {
        name: 'api',
        input: 'choice',
        choices: CHAT_APIS,
        label: { en: 'API', zh: 'API' },
        hint: { en: 'What the server speaks. Default: openai-chat.', zh: '服务器使用的 API，默认 openai-chat。' },
      },
      {
        name: 'base_url',
        input: 'code',
        label: { en: 'Base URL', zh: '基础 URL' },
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
        max: MAX_MODEL_LENGTH,
      },
      {
        name: 'api_key',
        input: 'code',
        label: { en: 'API key', zh: 'API 密钥' },
        hint: {
          en: 'Reference a secret; the key itself is not stored with the agent.',
          zh: '请引用凭据；密钥本身不会随智能体保存。',
        },
        example: '{{secret:OPENAI_KEY}}',
        min: 1,
        max: MAX_KEY_LENGTH,
      },
      {
        name: 'system_prompt',
        input: 'area',
        label: { en: 'System prompt', zh: '系统提示词' },
        max: MAX_SYSTEM_PROMPT_LENGTH,
      },
      {
        name: 'temperature',
        input: 'number',
        label: { en: 'Temperature', zh: '温度' },
        min: 0,
        max: MAX_TEMPERATURE,
      },
      {
        name: 'max_tokens',
        input: 'number',
        label: { en: 'Max output tokens', zh: '最大输出 Token 数' },
        min: 1,
        max: MAX_OUTPUT_TOKENS,
        isWhole: true,
      },
      {
        name: 'stream',
        input: 'flag',
        label: { en: 'Stream the reply', zh: '流式输出' },
        usual: true,
      },
      {
        name: 'background',
        input: 'flag',
        label: { en: 'Work in the background', zh: '后台运行' },
        hint: {
          en: 'With openai-responses: the run waits without a slot until the answer is there.',
          zh: '仅限 openai-responses：运行等待回答时不占用槽位。',
        },
      },
      {
        name: 'history',
        input: 'flag',
        label: { en: 'Include session history', zh: '包含会话历史' },
        hint: { en: 'Sends the earlier messages of the session.', zh: '发送会话中之前的消息。' },
        usual: true,
      },
      {
        name: 'prices',
        input: 'json',
        fields: [
          { name: 'input', ...PRICE, isRequired: true },
          { name: 'output', ...PRICE, isRequired: true },
          { name: 'cached_input', ...PRICE },
          { name: 'cache_write', ...PRICE },
        ],
        label: { en: 'Prices', zh: '价格' },
        hint: {
          en: 'Per million tokens; used to compute costs. Without them, list prices of known models.',
          zh: '每百万 Token 的价格，用于计算费用；未填写时使用已知模型的标价。',
        },
        example: '{"input": 0.15, "output": 0.6}',
      },
      HEADERS_FIELD,
      {
        name: 'body',
        input: 'json',
        fields: 'any',
        label: { en: 'Extra request fields', zh: '附加请求字段' },
        hint: { en: 'Sent to the model server unchanged.', zh: '原样发送给模型服务器。' },
      },
    ],
  },
} as const satisfies ExecutorSpec<'chat', ChatOptions>
