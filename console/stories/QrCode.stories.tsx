import { QrCode } from '../src/ui/QrCode.tsx';

export default { title: 'QR code' };

export const OfAnAddress = {
  render: () => (
    <QrCode text="ethereum:0xCc920D5B72DDbbb7782B104994B1Ea4939a5267E@1" of="the address of Treasury" />
  ),
};
