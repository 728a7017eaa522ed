import { area } from '../area.ts'

/** Adaptive intervals of schedules. */
export const paceTexts = area({
  en: {
    'pace.on': 'Adapt the interval',
    'pace.on.hint':
      'The interval grows after quiet runs and shrinks after runs with new results. The agent can also request the next check with next_check.',
    'pace.min': 'Shortest interval, minutes',
    'pace.max': 'Longest interval, minutes',
    'pace.stretch': 'Growth factor',
    'pace.stretch.hint': '2: doubles and halves the interval. 1: only the agent changes the interval.',
    'pace.quietAfter': 'Quiet runs before the interval grows',
    'pace.quietAfter.hint': 'consecutive',
    'pace.title': 'Interval',
    'pace.next': 'Next occurrences',
    'pace.firm': 'fixed',
    'pace.likely': 'likely',
    'pace.path': 'Interval history',
    'pace.step': '{what}: every {length}',
    'pace.step.quiet': 'Nothing new',
    'pace.step.changed': 'New results',
    'pace.step.proposed': 'Requested by the agent',
  },
  zh: {
    'pace.on': '自适应间隔',
    'pace.on.hint': '无新情况时间隔变长，有新情况时变短；智能体也可用 next_check 请求下次检查的时间。',
    'pace.min': '最短间隔（分钟）',
    'pace.max': '最长间隔（分钟）',
    'pace.stretch': '增长系数',
    'pace.stretch.hint': '2 表示加倍和减半；1 表示仅由智能体更改',
    'pace.quietAfter': '变长前的无新情况次数',
    'pace.quietAfter.hint': '连续',
    'pace.title': '间隔',
    'pace.next': '接下来的触发时间',
    'pace.firm': '确定',
    'pace.likely': '可能',
    'pace.path': '间隔的变化历史',
    'pace.step': '{what}：每 {length}',
    'pace.step.quiet': '无新情况',
    'pace.step.changed': '有新情况',
    'pace.step.proposed': '智能体请求',
  },
})
