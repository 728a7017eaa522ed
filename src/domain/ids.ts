/**
 * Ids are opaque strings. Branded types prevent passing a run id as an agent id, at no runtime cost. Ids are parsed and
 * created outside the domain.
 */
type Id<Name extends string> = string & { readonly __id: Name }

export type OrgId = Id<'org'>
export type AgentId = Id<'agent'>
export type RunId = Id<'run'>
export type AttemptId = Id<'attempt'>
export type ScheduleId = Id<'schedule'>
export type MessageId = Id<'message'>
export type BudgetId = Id<'budget'>
export type TargetId = Id<'target'>
export type ChannelId = Id<'channel'>
export type PrincipalId = Id<'principal'>
export type SessionKey = Id<'session'>
export type LaneName = Id<'lane'>
export type ProviderName = Id<'provider'>

export const orgId = (text: string): OrgId => text as OrgId
export const agentId = (text: string): AgentId => text as AgentId
export const runId = (text: string): RunId => text as RunId
export const attemptId = (text: string): AttemptId => text as AttemptId
export const scheduleId = (text: string): ScheduleId => text as ScheduleId
export const messageId = (text: string): MessageId => text as MessageId
export const budgetId = (text: string): BudgetId => text as BudgetId
export const targetId = (text: string): TargetId => text as TargetId
export const channelId = (text: string): ChannelId => text as ChannelId
export const principalId = (text: string): PrincipalId => text as PrincipalId
export const sessionKey = (text: string): SessionKey => text as SessionKey
export const laneName = (text: string): LaneName => text as LaneName
export const providerName = (text: string): ProviderName => text as ProviderName
