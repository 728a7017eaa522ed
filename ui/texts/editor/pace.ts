import { area } from '../area.ts'

/** How often a schedule comes when its interval moves by itself. */
export const paceTexts = area({
  en: {
    'pace.on': 'Adapt the interval',
    'pace.on.hint':
      'The interval grows after quiet runs and shrinks after news; the agent can also request its next check with next_check.',
    'pace.min': 'Shortest interval, minutes',
    'pace.max': 'Longest interval, minutes',
    'pace.stretch': 'Growth factor',
    'pace.stretch.hint': '2 doubles and halves the interval; 1: only the agent changes it',
    'pace.quietAfter': 'Quiet runs before it grows',
    'pace.quietAfter.hint': 'consecutive',
    'pace.title': 'Interval',
    'pace.next': 'Next occurrences',
    'pace.firm': 'fixed',
    'pace.likely': 'likely',
    'pace.path': 'History of the interval',
    'pace.step': '{what}: every {length}',
    'pace.step.quiet': 'No news',
    'pace.step.changed': 'News',
    'pace.step.proposed': 'Requested by the agent',
  },
  zh: {
    'pace.on': '让它自己调整节奏',
    'pace.on.hint': '没有新发现时间隔变长，有新发现时变短；代理也可以用 next_check 提出下次检查的时间。',
    'pace.min': '最短间隔（分钟）',
    'pace.max': '最长间隔（分钟）',
    'pace.stretch': '每一步',
    'pace.stretch.hint': '2 表示加倍和减半；1：只按代理提出的时间调整',
    'pace.quietAfter': '开始变长前的安静次数',
    'pace.quietAfter.hint': '连续',
    'pace.title': '节奏',
    'pace.next': '接下来的时刻',
    'pace.firm': '确定',
    'pace.likely': '可能',
    'pace.path': '节奏的变化过程',
    'pace.step': '{what}：每 {length}',
    'pace.step.quiet': '没有新发现',
    'pace.step.changed': '有新发现',
    'pace.step.proposed': '代理提出',
  },
})
