/** A heading of one of the descriptions that Escapement grew from, and the first cells of the tables under it. */
export interface SeedSection {
  readonly name: string
  /** The heading itself, where it is not in English. */
  readonly there?: string
  readonly rows?: readonly string[]
}

// The first two describe the same gateway at different times, and share whole parts.

const SESSIONS: readonly SeedSection[] = [
  { name: '2. Session Queue' },
  { name: 'Concurrent Runs', rows: ['DMs', 'Groups'] },
  { name: 'Queue Modes', rows: ['`queue` (default)', '`followup`', '`interrupt`'] },
  { name: 'Drop Policies', rows: ['`old` (default)', '`new`'] },
  { name: 'Queue Config Defaults', rows: ['`mode`', '`cap`', '`drop`', '`debounce_ms`'] },
  { name: '3. /stop and /stopall Commands', rows: ['`/stop`', '`/stopall`'] },
  { name: 'Implementation Details' },
]

const JOBS: readonly SeedSection[] = [
  { name: 'Schedule Types', rows: ['`at`', '`every`', '`cron`'] },
  { name: 'Job States' },
  { name: 'Retry -- Exponential Backoff with Jitter', rows: ['MaxRetries', 'BaseDelay', 'MaxDelay'] },
]

const ELSEWHERE: SeedSection = {
  name: 'Cross-References',
  rows: ['00-architecture-overview.md', '01-agent-loop.md', '06-store-data-model.md'],
}

/** What docs/coverage.md has to have an entry for, in the order of the descriptions. */
export const SEED_SECTIONS: Readonly<Record<string, readonly SeedSection[]>> = {
  '000': [
    { name: '08 - Scheduling & Cron' },
    { name: 'Responsibilities' },
    { name: '1. Scheduler Lanes' },
    { name: 'Lane Defaults', rows: ['`main`', '`subagent`', '`team`', '`cron`'] },
    ...SESSIONS,
    { name: '4. Adaptive Concurrency Control' },
    { name: '5. Cron Lifecycle' },
    ...JOBS,
    { name: 'File Reference' },
    {
      name: 'Scheduler (Lane-Based Concurrency)',
      rows: [
        '`internal/scheduler/lanes.go`',
        '`internal/scheduler/queue.go`',
        '`internal/scheduler/scheduler.go`',
        '`internal/scheduler/errors.go`',
      ],
    },
    {
      name: 'Cron Service (In-Memory)',
      rows: [
        '`internal/cron/service.go`',
        '`internal/cron/service_execution.go`',
        '`internal/cron/retry.go`',
        '`internal/cron/types.go`',
      ],
    },
    {
      name: 'Cron Persistence (PostgreSQL)',
      rows: [
        '`internal/store/cron_store.go`',
        '`internal/store/pg/cron.go`',
        '`internal/store/pg/cron_crud.go`',
        '`internal/store/pg/cron_scheduler.go`',
        '`internal/store/pg/cron_exec.go`',
        '`internal/store/pg/cron_scan.go`',
        '`internal/store/pg/cron_update.go`',
      ],
    },
    {
      name: 'Gateway Integration',
      rows: ['`cmd/gateway_cron.go`', '`cmd/gateway_agents.go`', '`internal/gateway/methods/cron.go`'],
    },
    ELSEWHERE,
  ],
  '001': [
    { name: '08 - Scheduling, Cron & Heartbeat' },
    { name: 'Responsibilities' },
    { name: '1. Scheduler Lanes' },
    { name: 'Lane Defaults', rows: ['`main`', '`subagent`', '`delegate`', '`cron`'] },
    ...SESSIONS,
    { name: '4. Cron Lifecycle' },
    ...JOBS,
    { name: '5. Heartbeat -- 5 Steps' },
    { name: 'Heartbeat Configuration', rows: ['Interval', 'ActiveHours', 'Target', 'AckMaxChars'] },
    { name: 'HEARTBEAT_OK Detection' },
    {
      name: 'File Reference',
      rows: [
        '`internal/scheduler/lanes.go`',
        '`internal/scheduler/queue.go`',
        '`internal/cron/service.go`',
        '`internal/cron/retry.go`',
        '`internal/heartbeat/service.go`',
        '`internal/store/cron_store.go`',
        '`internal/store/pg/cron.go`',
      ],
    },
    ELSEWHERE,
  ],
  '002': [
    { name: 'Cron in the control plane', there: 'Cron 调度能力设计（Control Plane 驱动）' },
    { name: '1. Goal and conclusion', there: '1. 目标与结论' },
    { name: '1.1 Goal', there: '1.1 目标' },
    { name: '1.2 Conclusion', there: '1.2 核心结论' },
    { name: '2. Why in the control plane', there: '2. 为什么放控制层' },
    { name: '3. Architecture', there: '3. 总体架构' },
    { name: '3.1 Components', there: '3.1 组件' },
    { name: '3.2 The way of a trigger', there: '3.2 触发链路' },
    { name: '4. Backend', there: '4. 后端设计' },
    { name: '4.1 Data model', there: '4.1 数据模型' },
    { name: '4.2 API', there: '4.2 API 设计（建议）' },
    { name: '4.3 Policies', there: '4.3 调度策略' },
    { name: '4.4 Protocol of the execution plane', there: '4.4 与执行平面的协议' },
    { name: '5. Console', there: '5. 前端设计' },
    { name: '5.1 Pages', there: '5.1 页面策略（关键决策）' },
    { name: '5.2 Parts', there: '5.2 关键页面与组件' },
    { name: '5.3 Ease of use', there: '5.3 交互与可用性' },
    { name: '6. Monitoring and audit', there: '6. 监控与审计' },
    { name: '7. Phases', there: '7. 分阶段落地' },
    { name: '8. Not aimed at', there: '8. 非目标（当前阶段）' },
  ],
  '003': [
    { name: 'Extended policies of cron', there: 'Cron 调度策略扩展说明' },
    { name: 'New fields', there: '新增字段' },
    { name: 'With concurrency', there: '与并发策略的组合' },
    { name: 'With misfires', there: '与 Misfire 策略组合' },
    { name: 'New run state', there: '运行状态新增' },
    { name: 'Cancelling', there: '取消逻辑' },
    { name: 'Later', there: '未来扩展' },
    { name: 'Usage', there: '使用方式' },
    { name: 'Workflow of the engine', there: '调度引擎 (Scheduler Engine) 工作流程' },
    { name: '1. Start', there: '1. Start 阶段' },
    { name: '2. scan()', there: '2. scan() 调度流程' },
    { name: '3. Execution and timeouts', there: '3. 执行阶段与超时' },
    { name: '4. Attempts', there: '4. Attempt 语义' },
    { name: '5. Concurrency and overlap together', there: '5. 并发与重叠的协同' },
    { name: '6. Records of what was skipped', there: '6. 跳过记录' },
    { name: '7. Cancelling the previous run', there: '7. 取消上一轮' },
    { name: '8. A misfire as an example', there: '8. Misfire 场景示例' },
    { name: '9. Edges', there: '9. 关键边界情况' },
    { name: '10. Metrics', there: '10. 后续可监控指标（待扩展）' },
    { name: 'Summary as a picture', there: '流程总结简图' },
    { name: 'Sample', there: '示例配置' },
  ],
  '004': [
    { name: 'Scheduler Architecture' },
    { name: 'Scope' },
    { name: 'Runtime Placement' },
    { name: 'High-Level Flow' },
    { name: 'Core Components' },
    { name: 'Scheduler' },
    { name: 'TaskQueue' },
    { name: 'ResultStore' },
    { name: 'ManagerResolver' },
    { name: 'Dispatch Lifecycle' },
    { name: 'Admission And Limits' },
    { name: 'Cancellation Model' },
    { name: 'Deadline Handling' },
    { name: 'Execution Contract' },
    { name: 'Error Model' },
    { name: 'Result Retention' },
    { name: 'Design Tradeoffs' },
    { name: 'Phase 2 -- Observability Layer' },
    { name: 'Metrics' },
    { name: 'Stats Endpoint' },
    { name: 'Lifecycle Logging' },
    { name: 'Webhook Delivery' },
    { name: 'Phase 3 -- Hardening Layer' },
    { name: 'Batch Submission' },
    { name: 'Config Hot-Reload' },
    { name: 'SetLimits and SetTTL' },
  ],
}
