import type { MailServer, TargetKind } from '../domain/delivery/target-kinds.ts'
import type { SendOnce } from '../domain/delivery/message.ts'
import { createChatSender, type SendToChat } from './chat-sender.ts'
import { createMailSender } from './email/send.ts'
import { createSlackSender } from './slack/incoming-webhook.ts'
import { createWebhookSender, type WebhookContext } from './webhook/send.ts'

/** The dependencies of all senders. */
export interface SendersContext extends WebhookContext {
  readonly mail: () => MailServer | null
  readonly sendToChat: SendToChat
}

/** Sends each message with the sender of its kind. */
export function createSenders(ctx: SendersContext): SendOnce {
  const chat = createChatSender(ctx.sendToChat)
  const senders: { readonly [Kind in TargetKind]: SendOnce } = {
    webhook: createWebhookSender(ctx),
    email: createMailSender(ctx.mail),
    slack: createSlackSender(ctx.send, chat),
    telegram: chat,
    session: chat,
  }
  return (message, signal) => senders[message.kind](message, signal)
}
