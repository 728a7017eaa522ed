import { createTheme, type ButtonProps, type MantineColorsTuple } from '@mantine/core'

/** The accent from faint to deep; the sixth is used on light, the fourth on dark. */
const ACCENT: MantineColorsTuple = [
  ...(['#eef0fc', '#dde1f8', '#bbc3f1', '#a3aeff', '#8e9bff'] as const),
  ...(['#5b6be0', '#3f51c7', '#3443ab', '#2a378d', '#1f2a70'] as const),
]

/** What Mantine's components look like here. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 4 },
  colors: { accent: ACCENT },
  autoContrast: true,
  luminanceThreshold: 0.3,
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--font-mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.4', sm: '1.4', md: '1.4', lg: '1.4', xl: '1.3' },
  defaultRadius: 'sm',
  radius: { xs: '3px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '20px', xl: '32px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: {
      defaultProps: { size: 'xs' },
      // Mantine measures the contrast of its own shade for light; the accent of the dark theme wants dark ink.
      vars: (_theme: unknown, { color, variant = 'filled' }: ButtonProps) => ({
        root: color === undefined && variant === 'filled' ? { '--button-color': 'var(--on-accent)' } : {},
      }),
    },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', comboboxProps: { shadow: 'md' } } },
    Checkbox: { defaultProps: { size: 'xs', radius: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Tooltip: {
      defaultProps: {
        openDelay: 250,
        withArrow: true,
        multiline: true,
        maw: 360,
        events: { hover: true, focus: true, touch: true },
      },
    },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end' } },
  },
})
