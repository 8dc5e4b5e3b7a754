import { Badge } from '../src/ui/Badge.tsx';

export default { title: 'Badge' };

const TONES = ['plain', 'accent', 'good', 'warning', 'danger'] as const;

export const Tones = {
  render: () => (
    <p className="row">
      {TONES.map((tone) => (
        <Badge key={tone} tone={tone}>
          {tone}
        </Badge>
      ))}
    </p>
  ),
};
